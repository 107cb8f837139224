// Writes src/generated from the hub's OpenAPI document and the closed words of sdk/vectors. `--check` only compares.
import { readFile, writeFile } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const SNAPSHOT = new URL("../../crates/cli/tests/it/snapshots/it__pages__openapi.snap", import.meta.url);
const VECTORS = new URL("../vectors/", import.meta.url);
const HEAD = "// Written by generate.mjs from the hub's OpenAPI document. Do not edit.\n";

const snapshot = await readFile(SNAPSHOT, "utf8");
const document = JSON.parse(snapshot.slice(snapshot.indexOf("---", 3) + 3));
const words = JSON.parse(await readFile(new URL("words.json", VECTORS), "utf8"));
const { words: spoken } = JSON.parse(await readFile(new URL("fingerprints.json", VECTORS), "utf8"));
const schemas = document.components.schemas;

// The document says `string` for closed sets. These are their names, and the fields that have them.
const closed = {
  Status: words.statuses,
  ErrorCode: words.errorCodes.map(({ code }) => code),
  EventType: words.eventTypes,
  Priority: words.priorities,
  OnStall: words.onStall,
  ContentType: words.contentTypes,
  MessageKind: words.messageKinds,
  Approval: words.approvals,
  ApprovalRule: words.approvalRules,
};
const fields = {
  status: "Status",
  toStatus: "Status",
  fromStatus: "Status",
  nextStatuses: "Status",
  expectedStatus: "Status",
  priority: "Priority",
  onStall: "OnStall",
  contentType: "ContentType",
  approvalStatus: "Approval",
  approval: "ApprovalRule",
  defaultApprovalRule: "ApprovalRule",
};
const special = {
  "ErrorBody.code": "ErrorCode",
  "EventView.type": "EventType",
  "MessageView.kind": "MessageKind",
  "BroadcastView.kind": "MessageKind",
};
const open = ["DeliveryView", "Health", "Ready"];

function close(schema, name) {
  const types = [schema.type].flat();
  if (types.includes("array")) return close(schema.items, name);
  if (!types.includes("string")) throw new Error(`a field of ${name} is no string`);
  const reference = { $ref: `#/components/schemas/${name}` };
  const { description } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(
    schema,
    types.includes("null") ? { oneOf: [reference, { type: "null" }], description } : { ...reference, description },
  );
}

function walk(owner, schema) {
  for (const part of schema.allOf ?? []) walk(owner, part);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const set = special[`${owner}.${name}`] ?? (open.includes(owner) ? undefined : fields[name]);
    if (set) close(property, set);
    if ([property.type].flat().includes("object") && !property.additionalProperties) {
      property.additionalProperties = /Keys$/.test(name) ? { type: "string" } : true;
    }
  }
}
for (const [owner, schema] of Object.entries(schemas)) walk(owner, schema);
for (const [name, all] of Object.entries(closed)) schemas[name] = { type: "string", enum: all };
for (const methods of Object.values(document.paths)) {
  for (const operation of Object.values(methods)) {
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in === "query" && fields[parameter.name]) close(parameter.schema, fields[parameter.name]);
    }
  }
}

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

${words.errorCodes
  .map(
    ({ code, meaning }) =>
      `${meaning ? `/** ${meaning} */\n` : ""}export class ${pascal(code)} extends Refused {\n  declare readonly code: "${code}";\n}`,
  )
  .join("\n")}

/** The class of each error code. */
export const REFUSALS = {
${words.errorCodes.map(({ code }) => `  ${code}: ${pascal(code)},`).join("\n")}
} as const;
`;

const constants = `${HEAD}/** One word for each value of a byte, for fingerprints. */
export const WORDS = "${spoken.join(" ")}".split(" ");

/** Statuses that no party leaves by itself. */
export const TERMINAL: readonly string[] = ${JSON.stringify(words.terminal)};
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
