// The npm SDK 1.x as a client of the era with sessions. Told what to do by lines of JSON on its standard input
// ({"list":true} or {"call":NAME,"arguments":{}}), it answers with a line each. Prompts of the server are answered
// with ANSWER and shown as {"sampled":...} beforehand.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
const require = createRequire(process.env.FOREIGN + "/");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { CreateMessageRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const say = (line) => console.log(JSON.stringify(line));
// The SDK opens its stream behind the back of connect().
let opened;
const stream = new Promise((resolve) => (opened = resolve));
// With OTHER, everything in the session goes to another node than the one that began it.
const watched = async (input, init) => {
  const inSession = new Headers(init?.headers).has("mcp-session-id");
  const response = await fetch(process.env.OTHER && inSession ? process.env.OTHER : input, init);
  if ((init?.method ?? "GET") === "GET") opened(response.status);
  return response;
};
const client = new Client({ name: "sdk1", version: "1" }, { capabilities: process.env.ANSWER ? { sampling: {} } : {} });
if (process.env.ANSWER) {
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    say({ sampled: params });
    const content = { type: "text", text: process.env.ANSWER };
    return { role: "assistant", model: "scripted", stopReason: "endTurn", content };
  });
}
const transport = new StreamableHTTPClientTransport(new URL(process.env.URL), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.KEY}` } },
  fetch: watched,
});
await client.connect(transport);
say({ connected: transport.protocolVersion, session: transport.sessionId, stream: await stream });
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.list) say((await client.listTools()).tools.map((tool) => tool.name));
  else say(await client.callTool({ name: order.call, arguments: order.arguments }));
}
await transport.terminateSession();
await client.close();
