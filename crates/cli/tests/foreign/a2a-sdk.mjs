// The official JavaScript SDK of A2A as a client. Reads orders as lines of JSON, and writes what it gets as lines of JSON.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { FOREIGN, URL: url, KEY: key, BINDING: binding } = process.env;
const from = createRequire(`${FOREIGN}/`);
const load = (name) => import(pathToFileURL(from.resolve(name)).href);
const sdk = await load("@a2a-js/sdk");
const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } =
  await load("@a2a-js/sdk/client");

const write = (line) => console.log(JSON.stringify(line));
const fetchImpl = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  return fetch(input, { ...init, headers });
};
const keyOf = async (kid, jku) => (await (await fetch(jku)).json()).keys.find((known) => known.kid === kid);
const verify = sdk.verifyAgentCardSignature(keyOf);
// The SDK verifies a card as it was sent: one that it has parsed it would parse once more, and lose its security schemes.
const verifyAt = async (address) =>
  verify(await (await fetchImpl(address, { headers: { "a2a-version": "1.0" } })).json());

const resolver = new DefaultAgentCardResolver({ fetchImpl });
const card = await resolver.resolve(`${url}/`, ".well-known/agent-card.json");
await verifyAt(`${url}/.well-known/agent-card.json`);
write({ card: card.name });
const transport =
  binding === "JSONRPC" ? new JsonRpcTransportFactory({ fetchImpl }) : new RestTransportFactory({ fetchImpl });
const client = await new ClientFactory({ transports: [transport] }).createFromAgentCard(card);

const shown = (type, value) => type.toJSON(value);
const operations = {
  async send(params) {
    const result = await client.sendMessage(sdk.SendMessageRequest.fromJSON(params));
    write({ event: shown(sdk.SendMessageResponse, { payload: result.payload ?? wrapped(result) }) });
    return { end: true };
  },
  async stream(params) {
    for await (const event of client.sendMessageStream(sdk.SendMessageRequest.fromJSON(params))) {
      write({ event: shown(sdk.StreamResponse, event) });
    }
    return { end: true };
  },
  async subscribe(params) {
    for await (const event of client.resubscribeTask(sdk.SubscribeToTaskRequest.fromJSON(params))) {
      write({ event: shown(sdk.StreamResponse, event) });
    }
    return { end: true };
  },
  get: async (params) => shown(sdk.Task, await client.getTask(sdk.GetTaskRequest.fromJSON(params))),
  list: async (params) => shown(sdk.ListTasksResponse, await client.listTasks(sdk.ListTasksRequest.fromJSON(params))),
  cancel: async (params) => shown(sdk.Task, await client.cancelTask(sdk.CancelTaskRequest.fromJSON(params))),
  "push-set": async (params) =>
    shown(sdk.TaskPushNotificationConfig,
      await client.createTaskPushNotificationConfig(sdk.TaskPushNotificationConfig.fromJSON(params))),
  "push-get": async (params) =>
    shown(sdk.TaskPushNotificationConfig,
      await client.getTaskPushNotificationConfig(sdk.GetTaskPushNotificationConfigRequest.fromJSON(params))),
  "push-list": async (params) =>
    shown(sdk.ListTaskPushNotificationConfigsResponse,
      await client.listTaskPushNotificationConfig(sdk.ListTaskPushNotificationConfigsRequest.fromJSON(params))),
  async "push-delete"(params) {
    await client.deleteTaskPushNotificationConfig(sdk.DeleteTaskPushNotificationConfigRequest.fromJSON(params));
    return { end: true };
  },
  "push-read": async (params) => shown(sdk.StreamResponse, sdk.StreamResponse.fromJSON(params)),
  async extended() {
    const extended = await client.getAgentCard();
    await verifyAt(`${url}/extendedAgentCard`);
    return shown(sdk.AgentCard, extended);
  },
};

const wrapped = (result) =>
  "messageId" in result ? { $case: "message", value: result } : { $case: "task", value: result };

for await (const line of createInterface({ input: process.stdin })) {
  const { do: kind, params = {} } = JSON.parse(line);
  try {
    write(await operations[kind](params));
  } catch (error) {
    write({ error: error.constructor.name, message: error.message });
  }
}
