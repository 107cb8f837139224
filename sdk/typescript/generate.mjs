// Writes src/generated from the hub's OpenAPI document and the closed words of sdk/vectors. `--check` only compares.
import { readFile, writeFile } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const DOCUMENT = new URL("../../docs/openapi.json", import.meta.url);
const VECTORS = new URL("../vectors/", import.meta.url);
const HEAD = "// Written by generate.mjs from the hub's OpenAPI document. Do not edit.\n";

const document = JSON.parse(await readFile(DOCUMENT, "utf8"));
const { terminal } = JSON.parse(await readFile(new URL("words.json", VECTORS), "utf8"));
const { words: spoken } = JSON.parse(await readFile(new URL("fingerprints.json", VECTORS), "utf8"));
const schemas = document.components.schemas;
const { enum: codes, "x-enum-descriptions": meanings } = schemas.ErrorCode;

const camel = (snake) => snake.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const pascal = (snake) => camel(`_${snake}`);

// Typed methods, one for each operation that answers with JSON or bytes; streams and pages are not for calls.
const left = ["admin_observe", "push_socket", "push_stream", "pages_reference", "mcp_listen", "mcp_send", "mcp_end"];
const table = [];
const methods = [];
const reference = (schema) => `Schemas["${schema.$ref.split("/").pop()}"]`;
for (const [path, verbs] of Object.entries(document.paths)) {
  for (const [verb, operation] of Object.entries(verbs)) {
    if (left.includes(operation.operationId)) continue;
    const name = camel(operation.operationId);
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => `${parameter}: string`);
    const content = operation.requestBody?.content;
    const [media, input] = Object.entries(content ?? {})[0] ?? [];
    const multipart = media?.startsWith("multipart");
    const isOptional = input?.schema?.$ref && !schemas[input.schema.$ref.split("/").pop()].required;
    const body = input && `body${isOptional ? "?" : ""}: ${multipart ? "FormData" : reference(input.schema)}`;
    const hasQuery = operation.parameters?.some((parameter) => parameter.in === "query");
    const query = hasQuery && `query?: NonNullable<operations["${operation.operationId}"]["parameters"]["query"]>`;
    const success = Object.entries(operation.responses).find(([status]) => status.startsWith("2"))[1];
    const [type, output] = Object.entries(success.content ?? {})[0] ?? [];
    const isList = output?.schema?.type === "array";
    let answer = "unknown";
    if (isList) answer = `Page<${reference(output.schema.items)}>`;
    else if (output?.schema?.$ref) answer = reference(output.schema);
    else if (output?.schema?.type === "object") answer = "Record<string, unknown>";
    const raw = type === "text/plain" || type === "application/octet-stream" || operation.operationId === "agents_export";
    if (raw) answer = "Response";
    const kind = isList ? "list" : raw ? "raw" : "json";
    const shape = `${inPath.length > 0 ? inPath.length : ""}${body ? "b" : ""}${query ? "q" : ""}`;
    table.push(`  ${name}: ["${verb.toUpperCase()}", "${path}", "${shape}", "${kind}"],`);
    const parameters = [...inPath, body, query, "options?: CallOptions"].filter(Boolean).join(", ");
    methods.push(`  /** ${(operation.summary ?? operation.description ?? name).trim().split("\n")[0]} */`);
    methods.push(`  ${name}(${parameters}): Promise<${answer}>;`);
  }
}

const calls = `${HEAD}import type { CallOptions, Page } from "../http.js";
import type { components, operations } from "./openapi.js";

type Schemas = components["schemas"];

/** Every operation of the hub: path parameters, then the body, then the query. */
export interface Calls {
${methods.join("\n")}
}

/** Method, path, what it takes (number of path parameters, b: body, q: query), and what it answers. */
export const OPERATIONS = {
${table.join("\n")}
} as const;
`;

const refusals = `${HEAD}import { Refused } from "../errors.js";

${codes
  .map(
    (code, at) =>
      `/** ${meanings[at]} */\nexport class ${pascal(code)} extends Refused {\n  declare readonly code: "${code}";\n}`,
  )
  .join("\n")}

/** The class of each error code. */
export const REFUSALS = {
${codes.map((code) => `  ${code}: ${pascal(code)},`).join("\n")}
} as const;
`;

const constants = `${HEAD}/** One word for each value of a byte, for fingerprints. */
export const WORDS = "${spoken.join(" ")}".split(" ");

/** Statuses that no party leaves by itself. */
export const TERMINAL: readonly string[] = ${JSON.stringify(terminal)};
`;

const written = {
  "openapi.ts": HEAD + astToString(await openapi(document, { alphabetize: false, immutable: false })),
  "calls.ts": calls,
  "refusals.ts": refusals,
  "words.ts": constants,
};
const stale = [];
for (const [name, text] of Object.entries(written)) {
  const file = new URL(`src/generated/${name}`, import.meta.url);
  if (process.argv.includes("--check")) {
    if ((await readFile(file, "utf8").catch(() => "")) !== text) stale.push(name);
  } else {
    await writeFile(file, text);
  }
}
if (stale.length > 0) {
  console.error(`src/generated is out of date (${stale.join(", ")}): run \`npm run generate\``);
  process.exit(1);
}
