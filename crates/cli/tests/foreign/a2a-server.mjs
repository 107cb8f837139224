// An agent built with the official JavaScript SDK of A2A. It goes by the first word of a message, and takes calls with a key only.
import { createRequire } from "node:module";
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";

const { FOREIGN, PORT, BINDING, KEY, BELLS = "", PAUSE = "3600" } = process.env;
const from = createRequire(`${FOREIGN}/`);
const load = (name) => import(pathToFileURL(from.resolve(name)).href);
const sdk = await load("@a2a-js/sdk");
const { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, InMemoryPushNotificationStore } =
  await load("@a2a-js/sdk/server");
const { DefaultPushNotificationSender } = await load("@a2a-js/sdk/server");
const { jsonRpcHandler, restHandler, UserBuilder } = await load("@a2a-js/sdk/server/express");
const { default: express } = await load("express");

const base = `http://127.0.0.1:${PORT}`;
const written = {
  name: "JavaScript agent",
  description: "Built with the official SDK",
  version: "1.0.0",
  supportedInterfaces: [{ url: base, protocolBinding: BINDING, protocolVersion: "1.0" }],
  capabilities: { streaming: BELLS.includes("stream"), pushNotifications: BELLS.includes("push") },
  securitySchemes: { key: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "all", name: "All", description: "Everything", tags: ["all"] }],
};
const card = sdk.AgentCard.fromJSON(written);

const textOf = (message) => sdk.Message.toJSON(message).parts.flatMap((part) => part.text ?? []).join("\n");
const cancelled = new Set();

class Agent {
  async execute(context, bus) {
    const words = textOf(context.userMessage);
    const { taskId, contextId } = context;
    const said = (text) => ({ messageId: randomUUID(), role: "ROLE_AGENT", parts: [{ text }], taskId, contextId });
    if (words.startsWith("message")) {
      const message = { messageId: randomUUID(), role: "ROLE_AGENT", parts: [{ text: "just words" }] };
      bus.publish(AgentEvent.message(sdk.Message.fromJSON(message)));
      return bus.finished();
    }
    if (!context.task) {
      const status = { state: "TASK_STATE_SUBMITTED", timestamp: new Date().toISOString() };
      bus.publish(AgentEvent.task(sdk.Task.fromJSON({ id: taskId, contextId, status })));
    }
    const status = (state, text) => {
      const message = text && said(text);
      const update = { taskId, contextId, status: { state, message, timestamp: new Date().toISOString() } };
      bus.publish(AgentEvent.statusUpdate(sdk.TaskStatusUpdateEvent.fromJSON(update)));
    };
    const artifact = (artifactId, parts) => {
      const update = { taskId, contextId, artifact: { artifactId, parts }, lastChunk: true };
      bus.publish(AgentEvent.artifactUpdate(sdk.TaskArtifactUpdateEvent.fromJSON(update)));
    };
    status("TASK_STATE_WORKING");
    if (words.startsWith("ask")) {
      status("TASK_STATE_INPUT_REQUIRED", "What exactly?");
    } else if (words.startsWith("wait")) {
      const until = Date.now() + Number(PAUSE) * 1000;
      while (Date.now() < until && !cancelled.has(taskId)) await new Promise((done) => setTimeout(done, 50));
      if (!cancelled.has(taskId)) status("TASK_STATE_COMPLETED", "waited");
    } else if (words.startsWith("fail")) {
      status("TASK_STATE_FAILED", "I cannot");
    } else if (words.startsWith("file")) {
      const names = sdk.Message.toJSON(context.userMessage).parts.filter((part) => part.raw);
      const raw = Buffer.from("a,b").toString("base64");
      artifact("made", [{ raw, mediaType: "text/csv", filename: "made.csv" }]);
      status("TASK_STATE_COMPLETED", `got ${JSON.stringify(names.map((part) => part.filename))}`);
    } else {
      artifact("answer", [{ text: `done: ${words}` }]);
      status("TASK_STATE_COMPLETED");
    }
    bus.finished();
  }

  cancelTask = async (taskId, bus) => {
    cancelled.add(taskId);
    const status = { state: "TASK_STATE_CANCELED", timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate(sdk.TaskStatusUpdateEvent.fromJSON({ taskId, status })));
    bus.finished();
  };
}

const pushes = new InMemoryPushNotificationStore();
const requestHandler = new DefaultRequestHandler(
  card,
  new InMemoryTaskStore(),
  new Agent(),
  undefined,
  pushes,
  new DefaultPushNotificationSender(pushes),
);
const app = express();
// The SDK's own handler parses the card once more, and loses its security schemes.
app.get("/.well-known/agent-card.json", (_, response) => response.json(written));
app.use((request, response, next) =>
  request.headers.authorization === `Bearer ${KEY}` ? next() : response.status(401).json({ error: "no key" }),
);
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
app.use("/", BINDING === "JSONRPC" ? jsonRpcHandler(options) : restHandler(options));
app.listen(Number(PORT), "127.0.0.1");
