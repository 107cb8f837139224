// What must not type-check does not: tsc fails if a line below an expected error has none.
import { type ErrorCode, Refused, type Status, type Tandem, type Task, TaskTerminal } from "tandem-hub";

export async function misspelt(hub: Tandem, task: Task, failure: unknown): Promise<void> {
  const right: Status = "input-required";
  // @ts-expect-error
  const wrong: Status = "input_requierd";
  // @ts-expect-error
  const code: ErrorCode = "task_terminl";
  // @ts-expect-error
  if (task.status === "compleeted") return;
  // @ts-expect-error
  if (failure instanceof Refused && failure.code === "not_conected") return;
  if (failure instanceof Refused && failure.code === "not_connected" && failure.taskStatus === right) return;
  const terminal: "task_terminal" | null = failure instanceof TaskTerminal ? failure.code : null;

  await hub.calls.tasksChange(task.id, { status: "working" });
  // @ts-expect-error
  await hub.calls.tasksChange(task.id, { status: "workin" });
  // @ts-expect-error
  await hub.calls.tasksList({ status: "done" });
  // @ts-expect-error
  await hub.calls.tasksCreate({ title: "no target" });
  // @ts-expect-error
  await hub.send("bob", "T", "", { priority: "hgih" });
  await hub.send("bob", "T", "", { priority: "high", leaseSeconds: 60 });
  // @ts-expect-error
  await hub.calls.taskCreate({});
  // @ts-expect-error
  for await (const event of hub.events()) if (event.type === "task.creatd") return;
  for await (const { type, taskId } of hub.events()) if (type === "task.created") await hub.task(taskId ?? "");
  const { items } = await hub.calls.messagesList(task.id, { limit: 10 });
  const kind: "message" | "reply" | "artifact" | "system" | "broadcast" | undefined = items[0]?.kind;
  console.log(wrong, code, terminal, kind);
}
