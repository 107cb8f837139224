// The npm SDK 1.x as a client that starts COMMAND (a JSON list) and speaks MCP on its standard input and output. Told
// what to do by lines of JSON on its own standard input, it answers with a line each, like mcp-sdk1.mjs.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
const require = createRequire(process.env.FOREIGN + "/");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const say = (line) => console.log(JSON.stringify(line));
const [command, ...args] = JSON.parse(process.env.COMMAND);
const client = new Client({ name: "sdk1", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
say({ connected: client.getServerVersion().name });
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.list) say((await client.listTools()).tools.map((tool) => tool.name));
  else say(await client.callTool({ name: order.call, arguments: order.arguments }));
}
await client.close();
