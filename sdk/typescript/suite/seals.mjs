// Seals for the tests of other languages: `{taskId, sender, kind, value}` as JSON lines on standard input, what was sealed on
// standard output. The keys are those of sdk/vectors.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { PrivateKey, PublicKey, seal } from "../dist/index.js";

const read = async (name) => JSON.parse(await readFile(new URL(`../../vectors/${name}`, import.meta.url), "utf8"));
const [keys, { agents }] = [await read("keys.json"), await read("sealed.json")];
for await (const line of createInterface({ input: process.stdin })) {
  const { taskId, sender, value } = JSON.parse(line);
  const to = {};
  for (const [name, agent] of Object.entries(agents)) to[agent] = await PublicKey.fromPem(keys[name].public);
  const sealed = await seal(taskId, await PrivateKey.fromPem(keys[sender].private), to, JSON.stringify(value));
  console.log(JSON.stringify(sealed));
}
