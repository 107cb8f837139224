// A client from the OpenAPI document alone: openapi-typescript has written the types, openapi-fetch reads them. A task goes there
// and back; what is misspelt does not compile.
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi.js";

type Event = components["schemas"]["Event"];

const setting = (name: string): string => process.env[name] ?? "";
const client = (key: string) =>
  createClient<paths>({ baseUrl: setting("URL"), headers: { Authorization: `Bearer ${key}` } });
const ada = client(setting("ADA_KEY"));
const bob = client(setting("BOB_KEY"));

/** What an event says, by its type. */
function told(event: Event): string {
  switch (event.type) {
    case "task.created":
      return `${event.taskId} attempt ${event.data.attempt} by ${event.fromAgentId}`;
    case "task.updated":
      return `${event.taskId} ${event.status}`;
    case "message.created":
      return `${event.kind} ${event.contentType}`;
    default:
      return event.type;
  }
}

function must<T>(answer: { data?: T; error?: { code: string } }): T {
  if (answer.data === undefined) throw new Error(`refused: ${answer.error?.code}`);
  return answer.data;
}

const body = { targetAgentId: setting("BOB"), title: "Add", description: "2 + 2", priority: "high" as const };
const task = must(await ada.POST("/tasks", { body }));
const path = { id: task.id };
const { events } = must(await bob.GET("/events", { params: { query: { after: 0 } } }));
const created = events.find((event) => event.type === "task.created" && event.taskId === task.id);
if (!created || !told(created).includes("attempt 1")) throw new Error("the event is missing");

must(await bob.PATCH("/tasks/{id}", { params: { path }, body: { status: "working" } }));
must(await bob.POST("/tasks/{id}/messages", { params: { path }, body: { content: "In base ten?" } }));
const { messages } = must(await ada.POST("/tasks/{id}/read", { params: { path } }));
if (messages[0]?.content !== "In base ten?") throw new Error("the question is missing");
const refused = await bob.PATCH("/tasks/{id}", { params: { path }, body: { status: "draft" } });
if (refused.error?.code !== "invalid_transition" || !refused.error.nextStatuses) throw new Error("not refused");
must(await bob.POST("/tasks/{id}/reply", { params: { path }, body: { content: "4", outcome: "completed" } }));
const done = must(await ada.GET("/tasks/{id}", { params: { path } }));
console.log(`${done.status}: ${done.result}`);

export async function misspelt(event: Event): Promise<void> {
  // @ts-expect-error
  await ada.POST("/tasks", { body: { ...body, priority: "hgih" } });
  // @ts-expect-error
  await ada.PATCH("/tasks/{id}", { params: { path }, body: { status: "workin" } });
  // @ts-expect-error
  await ada.GET("/tasks", { params: { query: { status: "done" } } });
  // @ts-expect-error
  if (event.type === "task.creatd") return;
  // @ts-expect-error
  if (event.type === "task.updated" && event.status === "compleeted") return;
  // @ts-expect-error
  if (refused.error?.code === "not_conected") return;
  // @ts-expect-error
  if (done.status === "canceled") return;
}
