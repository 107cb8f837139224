// The npm client 2.x in the era without sessions. Told what to do by lines of JSON on its standard input
// ({"list":true}, {"call":NAME,"arguments":{}} or {"listen":URI}), it answers with a line each; what it is told of a
// resource it listens to it shows as {"updated":URI}.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
const require = createRequire(process.env.FOREIGN + "/");
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");

const say = (line) => console.log(JSON.stringify(line));
const client = new Client(
  { name: "client2", version: "1" },
  { capabilities: {}, versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
client.setNotificationHandler("notifications/resources/updated", ({ params }) => say({ updated: params.uri }));
const headers = { Authorization: `Bearer ${process.env.KEY}` };
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.URL), { requestInit: { headers } }));
say({ connected: client.getNegotiatedProtocolVersion(), era: client.getProtocolEra() });
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.list) say((await client.listTools()).tools.map((tool) => tool.name));
  else if (order.listen) say((await client.listen({ resourceSubscriptions: [order.listen] })).honoredFilter);
  else say(await client.callTool({ name: order.call, arguments: order.arguments }));
}
await client.close();
process.exit(0);
