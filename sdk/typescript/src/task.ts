// A task of a hub in the clear, with what either party can do with it.
import { AnswerLost, InputRequired, TandemError, TaskFailed, Untrusted } from "./errors.js";
import { TERMINAL } from "./generated/words.js";
import { everyPage, randomKey } from "./http.js";
import { sha256 } from "./seal.js";
import type { FileContent, Opened, Trust } from "./sealed.js";
import type { FileInput, Tandem } from "./tandem.js";
import type { MessageView, Schemas, Status, TaskView } from "./types.js";

export type Outcome = Schemas["ReplyOutcome"];
/** What a handler returns. */
export class Reply {
  constructor(
    readonly text: string,
    readonly options: { outcome?: Outcome; files?: FileInput[] } = {},
  ) {}
}
export interface Result {
  text: string;
  status: Status;
  files: ReceivedFile[];
  task: Task;
}
export interface ReceivedFile {
  from: string;
  trust: Trust;
  /** Downloads it; on an encrypted task it is verified and opened. The name is the sender's: it has no folders, and may exist. */
  read(): Promise<FileContent>;
}
export interface ResultOptions {
  /** Seconds to wait. Without it, for as long as it takes. */
  timeout?: number;
  /** Answers questions; without it they are thrown as InputRequired. */
  onQuestion?: (question: string) => string | Promise<string>;
}

export class Task {
  #opened: Opened<TaskView>;
  #known = new Set<string>();
  /** Aborted when the work is of no more use: the task has ended, or is another agent's. */
  readonly stopped = new AbortController();

  constructor(
    readonly hub: Tandem,
    /** As the hub shows it. */
    public raw: TaskView,
    opened: Opened<TaskView>,
  ) {
    this.#opened = opened;
  }
  static async open(hub: Tandem, raw: TaskView): Promise<Task> {
    return new Task(hub, raw, await hub.sealer.openTask(raw));
  }

  get id(): string {
    return this.raw.id;
  }
  /** All fields in the clear, as far as they could be opened. */
  get view(): TaskView {
    return this.#opened.view;
  }
  get trust(): Trust {
    return this.#opened.trust;
  }
  /** Why it could not be opened or verified. */
  get why(): string | undefined {
    return this.#opened.why;
  }
  get title(): string {
    return this.view.title;
  }
  get description(): string {
    return this.view.description ?? "";
  }
  get status(): Status {
    return this.view.status;
  }
  get signal(): AbortSignal {
    return this.stopped.signal;
  }

  async #show(raw: TaskView): Promise<this> {
    if (raw.id !== this.id) throw new Untrusted("presented_as_plain", `instead of ${this.id} the hub presents ${raw.id}`);
    const fixed = ["description", "result", "encrypted", "initiatorAgentId", "targetAgentId"] as const;
    const isSame = fixed.every((field) => raw[field] === this.raw[field]);
    const { title, description = null, result = null, initiatorAgentName, targetAgentName } = this.view;
    const clear = {
      title,
      description,
      result,
      initiatorAgentName,
      targetAgentName,
      descriptionKeys: null,
      senderSignature: null,
    };
    // What was opened stays open: the text is the same.
    const isKept = isSame && this.trust === "verified";
    this.#opened = isKept ? { trust: "verified", view: { ...raw, ...clear } } : await this.hub.sealer.openTask(raw);
    this.raw = raw;
    return this;
  }
  async refresh(): Promise<this> {
    return this.#show(await this.hub.calls.tasksView(this.id));
  }

  /** The thread in the clear, oldest first. */
  async messages(): Promise<Opened<MessageView>[]> {
    const all: MessageView[] = [];
    for await (const page of everyPage((query) => this.hub.calls.messagesList(this.id, query), 1000)) all.unshift(...page);
    return this.hub.sealer.openMessages(this.raw, all);
  }
  /** What the parties have said: no files, nothing that was deleted, and nothing that could not be verified. */
  #words(thread: Opened<MessageView>[]): Opened<MessageView>[] {
    const trust = this.raw.encrypted ? "verified" : "plain";
    const isWord = ({ contentType, content }: MessageView) => contentType !== "file" && content !== "[deleted]";
    return thread.filter((one) => one.trust === trust && isWord(one.view));
  }
  async files(): Promise<ReceivedFile[]> {
    const files = (await this.messages()).filter(({ view, trust }) => view.contentType === "file" && trust !== "unreadable");
    const read = (view: MessageView) => () => this.hub.sealer.readFile(this.raw, view);
    return files.map(({ view, trust }) => ({ from: view.senderAgentId, trust, read: read(view) }));
  }

  async say(text: string, { files = [], inReplyTo }: { files?: FileInput[]; inReplyTo?: string } = {}): Promise<string> {
    for (const file of files) await this.upload(file);
    const sealed = await this.hub.sealer.sealMessage(this.raw, text);
    return (await this.hub.calls.messagesSend(this.id, { ...sealed, inReplyTo })).id;
  }
  /** Uploads a file. The same one of the same attempt is uploaded once. */
  async upload(input: FileInput): Promise<string> {
    const file = await this.hub.readFile(input);
    const parts = ["tandem-file", this.id, this.raw.attempt, file.name, await sha256(file.bytes)];
    const sealed = await this.hub.sealer.sealFile(this.raw, file);
    const options = { idempotencyKey: await sha256(parts.join("\n")) };
    const uploaded = await this.hub.calls.filesUploadJson(this.id, sealed, options).catch((failure) => {
      // Sealed anew it is another body; the first one has arrived.
      if ((failure as { code?: string }).code === "idempotency_conflict") return null;
      throw failure;
    });
    return uploaded?.messageId ?? "";
  }
  /** Changes the status. If the answer is lost, the task itself says whether it was changed. */
  async setStatus(status: Status, reason?: string): Promise<this> {
    const change = { status, reason, expectedStatus: this.status };
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#show(await this.hub.calls.tasksChange(this.id, change));
      } catch (failure) {
        if (!(failure instanceof AnswerLost) || attempt === 3) throw failure;
        if ((await this.refresh()).status === status) return this;
      }
    }
  }
  async cancel(reason?: string): Promise<this> {
    return this.#show(await this.hub.calls.tasksCancel(this.id, { reason }));
  }
  /** Says how far the work is. The note of an encrypted task is not sent: the hub could read it. */
  async progress(percent: number, note?: string): Promise<void> {
    const { encrypted } = this.raw;
    await this.#show(
      await this.hub.calls.tasksHeartbeat(this.id, { progress: percent, ...(note && !encrypted ? { note } : {}) }),
    );
  }
  /** Delivers the result, as the target. */
  async reply(
    text: string,
    { outcome = "completed", files = [] }: { outcome?: Outcome; files?: FileInput[] } = {},
  ): Promise<this> {
    for (const file of files) await this.upload(file);
    const body = { ...(await this.hub.sealer.sealMessage(this.raw, text)), outcome };
    const { message: _, ...view } = await this.hub.calls.tasksReply(this.id, body);
    return this.#show(view);
  }

  /** Asks the initiator and waits for its answer. A question that is in the thread already is not asked again. */
  async ask(question: string, { timeout }: { timeout?: number } = {}): Promise<string> {
    const me = await this.hub.agentId();
    let asked: string | undefined;
    const answered = async () => {
      const thread = await this.messages();
      asked ??= thread.find(({ view }) => view.senderAgentId === me && view.content === question && !this.#known.has(view.id))
        ?.view.id;
      asked ??= await this.say(question);
      this.#known.add(asked);
      const later = thread.slice(thread.findIndex(({ view }) => view.id === asked) + 1 || thread.length);
      const found = this.#words(later).find(({ view }) => view.senderAgentId === this.raw.initiatorAgentId);
      await this.refresh();
      if (TERMINAL.includes(this.status)) throw new TaskFailed(this.view);
      if (found) return found.view.content;
      if (this.status === "working") await this.setStatus("input-required");
      return undefined;
    };
    const answer = await this.hub.until(this.id, answered, { timeout, signal: this.signal });
    if (this.status === "input-required") await this.setStatus("working");
    return answer;
  }

  /** Waits until the task has a result. */
  async result({ timeout, onQuestion }: ResultOptions = {}): Promise<Result> {
    const ended = async () => {
      const { status, trust } = await this.refresh();
      const isDelivered = this.view.requiresReview && this.raw.result != null;
      if (trust === "unreadable" && status === "completed")
        throw new Untrusted("unreadable", `the result cannot be verified: ${this.why}`);
      if (status === "completed" || (status === "input-required" && isDelivered)) return this.#result();
      if (TERMINAL.includes(status)) throw new TaskFailed(this.view);
      if (status === "input-required") await this.#question(onQuestion);
      return undefined;
    };
    return this.hub.until(this.id, ended, { timeout });
  }
  async #result(): Promise<Result> {
    const thread = await this.messages();
    const last = this.#words(thread).findLast(({ view }) => view.senderAgentId === this.raw.targetAgentId);
    const files = (await this.files()).filter(({ from }) => from === this.raw.targetAgentId);
    return { text: this.view.result ?? last?.view.content ?? "", status: this.status, files, task: this };
  }
  async #question(answer: ResultOptions["onQuestion"]): Promise<void> {
    const last = this.#words(await this.messages()).at(-1);
    const isTheirs = last?.view.senderAgentId === this.raw.targetAgentId;
    if (last && !isTheirs && last.view.senderAgentId === this.raw.initiatorAgentId) return; // It has an answer.
    const question = isTheirs ? (last as Opened<MessageView>).view.content : (this.view.statusReason ?? "");
    if (!answer) throw new InputRequired(this.view, question);
    await this.say(await answer(question));
  }

  /** Delivers a result exactly once, however often the answer is lost. False: the task has ended or changed otherwise. */
  async deliver(reply: Reply, again: (failure: TandemError) => Promise<boolean>): Promise<boolean> {
    const { outcome = "completed", files = [] } = reply.options;
    const idempotencyKey = randomKey();
    const body = { ...(await this.hub.sealer.sealMessage(this.raw, reply.text)), outcome, expectedStatus: "working" as const };
    for (;;) {
      try {
        for (const file of files) await this.upload(file);
        await this.hub.calls.tasksReply(this.id, body, { idempotencyKey });
        return true;
      } catch (failure) {
        if (!(failure instanceof TandemError)) throw failure;
        const code = (failure as { code?: string }).code ?? "";
        if (/^(task_terminal|conflict|invalid_state|not_found|role_not_allowed|approval_pending)$/.test(code)) return false;
        if (!(await again(failure))) throw failure;
      }
    }
  }
}
