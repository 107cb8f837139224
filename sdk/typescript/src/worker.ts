// Works on the tasks of an agent: takes them, keeps their leases, and delivers exactly one result for each.
import { AnswerLost, Refused, TandemError, Untrusted } from "./errors.js";
import { Backoff, everyPage, randomKey, sleep } from "./http.js";
import type { Tandem } from "./tandem.js";
import { Reply, Task } from "./task.js";
import type { EventType, TaskView } from "./types.js";

export type Handler = (task: Task) => Reply | string | undefined | void | Promise<Reply | string | undefined | void>;
export interface WorkerOptions {
  /** Whose tasks: ids, your aliases or whole names of connections; "*" for all. Others stay in the inbox. */
  acceptFrom: string[];
  concurrency?: number;
  /** Stays the same over restarts, so that a worker goes on with what it has begun. No other worker may have it. */
  sessionKey?: string;
  /** What went wrong with a task, or null: with the worker itself. */
  onError?: (failure: unknown, task: Task | null) => void;
}

export class Worker {
  readonly #sessionKey: string;
  readonly #names = new Map<string, string>();
  readonly #queue = new Set<string>();
  readonly #running = new Map<string, { task: Task; done: Promise<void> }>();
  readonly #stopping = new AbortController();
  readonly #cancelled = new AbortController();
  #isScanDue = true;
  #wake: () => void = () => {};

  constructor(
    readonly hub: Tandem,
    readonly handler: Handler,
    readonly options: WorkerOptions,
  ) {
    this.#sessionKey = options.sessionKey ?? `sdk_${randomKey()}`;
  }

  /** Takes no new task and finishes what was begun. A second time, that is given up, and begins anew with the next start. */
  stop(): void {
    if (this.#stopping.signal.aborted) this.#cancelled.abort();
    this.#stopping.abort();
    this.#wake();
  }

  /** Works until it is stopped. */
  async run(): Promise<void> {
    const { concurrency = 1 } = this.options;
    let failed: unknown;
    const end = this.hub.listen((event, failure) => {
      failed ??= failure;
      if (event === null) this.#isScanDue = true;
      else if (event.taskId) this.#heard(event.type, event.taskId);
      this.#wake();
    });
    try {
      for (let scanned = 0; !this.#stopping.signal.aborted && !failed; ) {
        if (this.#isScanDue || Date.now() - scanned > 60_000) {
          this.#isScanDue = false;
          scanned = Date.now();
          await this.#scan().catch((failure) => this.#pause(failure));
        }
        for (const id of this.#waiting()) {
          if (this.#running.size >= concurrency || this.#stopping.signal.aborted) break;
          this.#queue.delete(id);
          const task = await this.#take(id).catch((failure) => this.#pause(failure, id));
          if (task) this.#start(task);
        }
        const nap = new AbortController();
        this.#wake = () => nap.abort();
        const isFree = this.#waiting().length > 0 && this.#running.size < concurrency;
        if (!isFree && !this.#isScanDue && !this.#stopping.signal.aborted) await sleep(60, nap.signal);
      }
      await Promise.all([...this.#running.values()].map(({ done }) => done));
    } finally {
      end();
    }
    if (failed) throw failed;
  }

  #heard(type: EventType, id: string): void {
    const running = this.#running.get(id);
    if (!running || type === "task.created") {
      if (/^(task\.created|task\.updated|message\.created)$/.test(type)) this.#queue.add(id);
    } else if (type === "task.updated") void this.#beat(running.task);
  }
  /** A new attempt of a task waits for the end of the one before. */
  #waiting(): string[] {
    return [...this.#queue].filter((id) => !this.#running.has(id));
  }
  #start(task: Task): void {
    const done = this.#work(task).finally(() => {
      this.#running.delete(task.id);
      this.#wake();
    });
    this.#running.set(task.id, { task, done });
  }

  /** The hub is away, or does not want this now. */
  async #pause(failure: unknown, id?: string): Promise<null> {
    if (!(failure instanceof TandemError) || (failure instanceof Refused && failure.status === 401)) throw failure;
    this.options.onError?.(failure, null);
    if (failure.isTemporary) {
      if (id) this.#queue.add(id);
      else this.#isScanDue = true;
      await sleep(1, this.#stopping.signal);
    }
    return null;
  }

  async #scan(): Promise<void> {
    const found: string[] = [];
    for (const status of ["submitted", "working", "input-required"] as const) {
      for await (const page of everyPage((query) => this.hub.calls.tasksList({ ...query, role: "target", status }))) {
        for (const task of page) {
          const isOurs = status === "submitted" || this.#isResumable(task);
          if (isOurs && (await this.#accepts(task.initiatorAgentId))) found.push(task.id);
        }
      }
    }
    // What was begun before comes first, then the oldest.
    for (const id of found.reverse()) this.#queue.add(id);
  }
  /** A task that this worker has begun before it was started again. One with a result waits for review. */
  #isResumable(task: TaskView): boolean {
    const isBegun = task.status === "working" || (task.status === "input-required" && task.result == null);
    return isBegun && task.targetSessionKey === this.#sessionKey;
  }

  async #accepts(agent: string): Promise<boolean> {
    const { acceptFrom } = this.options;
    if (acceptFrom.includes("*") || acceptFrom.includes(agent)) return true;
    for (const name of acceptFrom) {
      // A name goes on to mean the agent that it meant at first.
      const meant =
        this.#names.get(name) ??
        (await this.hub.connection(name).then(
          ({ agentId }) => agentId,
          (why) => {
            if (why instanceof Untrusted) return null;
            throw why;
          },
        ));
      if (meant) this.#names.set(name, meant);
      if (meant === agent) return true;
    }
    return false;
  }

  async #take(id: string): Promise<Task | null> {
    const view = await this.hub.calls.tasksView(id).catch((failure) => {
      if (failure instanceof Refused && failure.code === "not_found") return null;
      throw failure;
    });
    const isMine = view?.id === id && view.targetAgentId === (await this.hub.agentId()) && view.approvalStatus !== "pending";
    const isNew = view?.status === "submitted";
    if (!view || !isMine || (!isNew && !this.#isResumable(view)) || !(await this.#accepts(view.initiatorAgentId))) return null;
    const task = await Task.open(this.hub, view);
    if (task.trust === "unreadable") {
      this.options.onError?.(new Untrusted("unreadable", task.why ?? ""), task);
      return null;
    }
    if (!isNew) return task;
    const change = { status: "working", expectedStatus: "submitted", sessionKey: this.#sessionKey } as const;
    const taken = await this.hub.calls.tasksChange(id, change).catch(async (failure) => {
      // Somebody else was faster, or it has ended.
      if (failure instanceof Refused && [400, 403, 404, 409].includes(failure.status)) return null;
      const now = failure instanceof AnswerLost ? await this.hub.calls.tasksView(id) : null;
      if (now && this.#isResumable(now)) return now;
      throw failure;
    });
    return taken ? Task.open(this.hub, taken) : null;
  }

  async #work(task: Task): Promise<void> {
    const stop = () => task.stopped.abort();
    this.#cancelled.signal.addEventListener("abort", stop);
    const every = setInterval(() => void this.#beat(task), (task.raw.leaseSeconds ?? 90) * 333);
    const backoff = new Backoff();
    try {
      if (task.status === "input-required" && (await task.messages()).at(-1)?.view.senderAgentId === task.raw.initiatorAgentId) {
        await task.setStatus("working");
      }
      const reply = await this.#handle(task);
      if (!reply || task.signal.aborted) return;
      const again = async (failure: TandemError) => {
        this.options.onError?.(failure, task);
        if (failure.isTemporary) await sleep(backoff.pause(), task.signal);
        return failure.isTemporary && !task.signal.aborted;
      };
      const isDelivered = await task.deliver(reply, again).catch((failure) => {
        // Too large, a file of a wrong type: the initiator hears that there is no result.
        if (!(failure instanceof Refused) || failure.status === 401 || task.signal.aborted) throw failure;
        return task.deliver(new Reply(`The result was refused (${failure.code}).`, { outcome: "failed" }), again);
      });
      if (!isDelivered) this.options.onError?.(new TandemError("the task has ended or changed, so its result was dropped"), task);
    } catch (failure) {
      this.options.onError?.(failure, task);
    } finally {
      clearInterval(every);
      this.#cancelled.signal.removeEventListener("abort", stop);
    }
  }
  async #handle(task: Task): Promise<Reply | null> {
    try {
      const reply = await this.handler(task);
      return reply instanceof Reply ? reply : new Reply(reply ?? "Done.");
    } catch (failure) {
      if (task.signal.aborted) return null;
      this.options.onError?.(failure, task);
      // Its text may have what is not for the other party.
      const name = failure instanceof Error ? failure.name : typeof failure;
      return new Reply(`The work failed (${name}).`, { outcome: "failed" });
    }
  }
  /** A sign of life. Its answer says if the work is of no more use. */
  async #beat(task: Task): Promise<void> {
    try {
      const view = await this.hub.calls.tasksHeartbeat(task.id);
      if (view.targetSessionKey !== this.#sessionKey) task.stopped.abort();
    } catch (failure) {
      if (!(failure instanceof Refused)) return;
      const { code, taskStatus } = failure;
      const isOver = taskStatus && !["working", "input-required", "auth-required"].includes(taskStatus);
      if (code === "not_found" || isOver) task.stopped.abort();
    }
  }
}
