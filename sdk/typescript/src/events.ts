// An agent's events as they happen, each once and in order: WebSocket, else server-sent events, else long polls.
import { AnswerLost, NotAHub, Refused, TandemError, Unreachable } from "./errors.js";
import type { Calls } from "./generated/calls.js";
import { Backoff, type Http, sleep } from "./http.js";
import type { Schemas } from "./types.js";

export type Transport = "ws" | "sse" | "poll";
/** An event, as every channel carries it: narrow it by `type`. A newer hub may send types that are not listed. */
export type Event = Schemas["Event"];
/** What happens to the stream itself. It goes on; a program may ignore it. */
export type Notice =
  | { kind: "connected"; transport: Transport; cursor: number; epoch: string | null }
  | { kind: "lost"; cause: string; retryIn: number }
  /** The hub was restored from a backup: numbers of events that were returned before may be used again. */
  | { kind: "rewound"; from: number; to: number };
export interface EventOptions {
  /** The last event that is known. Without it, only new ones. */
  after?: number | null;
  /** The epoch of the log to which `after` belongs. */
  epoch?: string | null;
  /** Only this one, for tests and to find out what a proxy does. */
  transport?: Transport;
  signal?: AbortSignal;
  onNotice?: (notice: Notice) => void;
}
interface Place {
  cursor: number;
  epoch: string | null;
}
type Frame = ({ connected: true } & Place) | { connected: false; event: Event };

const SILENCE = 75_000;
const LESSER = 600_000;
const QUEUE_MAX = 4096;
const FRAME_CHARS_MAX = 1024 * 1024;
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
const epochOf = (value: unknown): string | null => (/^[0-9A-Za-z]{1,64}$/.test(String(value)) ? text(value) : null);

/** Reads a message of a socket or stream. */
export function parseFrame(json: string): Frame {
  const message = JSON.parse(json);
  const { cursor, type, epoch } = message;
  if (!Number.isSafeInteger(cursor)) throw new NotAHub("a pushed event without its number");
  if (type === "connected") return { connected: true, cursor, epoch: epochOf(epoch) };
  return { connected: false, event: eventOf(message) };
}
/** An event of an older hub has its fields once: on a page of the log in `data`, elsewhere beside its number. */
function eventOf(found: Record<string, unknown>): Event {
  if (found.data && "cursor" in found) return found as Event;
  const { cursor, createdAt, ...own } = found;
  const data = found.data ?? own;
  const ids = { id: found.id ?? cursor, cursor: cursor ?? found.id, createdAt: createdAt ?? null };
  return { taskId: null, fromAgentId: null, ...(data as object), ...own, ...ids, data } as unknown as Event;
}

export class EventStream implements AsyncIterableIterator<Event> {
  /** The cursor after what was returned; null before the first connection of a stream of new events. */
  cursor: number | null;
  epoch: string | null;
  readonly #isLive: boolean;
  readonly #ended = new AbortController();
  readonly #transports: Transport[];
  #transport: Transport;
  #failures = 0;
  #lesserSince = 0;
  #backoff = new Backoff();
  #lastAt: string | null = null;
  /** After a restore of the hub: events up to this time were returned before. */
  #knownUntil: string | null = null;
  #following: AsyncGenerator<Event, undefined> | null = null;

  constructor(
    readonly http: Http,
    readonly calls: Calls,
    readonly options: EventOptions,
  ) {
    this.cursor = options.after ?? null;
    this.epoch = options.epoch ?? null;
    this.#isLive = this.cursor === null;
    const usable: Transport[] = "WebSocket" in globalThis ? ["ws", "sse", "poll"] : ["sse", "poll"];
    this.#transports = options.transport ? [options.transport] : usable;
    this.#transport = this.#transports[0] as Transport;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
  /** The next event. After an error, the next call goes on from the last cursor. */
  async next(): Promise<IteratorResult<Event, undefined>> {
    this.#following ??= this.#follow();
    try {
      const step = await this.#following.next();
      if (!step.done) this.#passed(step.value);
      return step;
    } catch (failure) {
      this.#following = null;
      throw failure;
    }
  }
  async return(): Promise<IteratorResult<Event, undefined>> {
    this.#ended.abort();
    await this.#following?.return(undefined).catch(() => {});
    return { done: true, value: undefined };
  }

  #passed(event: Event): void {
    this.cursor = event.cursor;
    this.#lastAt = event.createdAt ?? this.#lastAt;
  }

  async *#follow(): AsyncGenerator<Event, undefined> {
    const { signal } = this.options;
    const end = () => this.#ended.abort();
    if (signal?.aborted) end();
    signal?.addEventListener("abort", end);
    try {
      yield* this.#connections();
    } finally {
      signal?.removeEventListener("abort", end);
    }
    return undefined;
  }
  async *#connections(): AsyncGenerator<Event> {
    while (!this.#ended.signal.aborted) {
      if (this.#lesserSince && Date.now() - this.#lesserSince > LESSER) this.#use(this.#transports[0] as Transport);
      const { key } = this.http;
      try {
        yield* this.#connection();
        await sleep(0.1, this.#ended.signal);
      } catch (failure) {
        if (this.#ended.signal.aborted) return;
        if (!(failure instanceof TandemError)) throw failure;
        if (failure instanceof Refused && [400, 401, 403].includes(failure.status)) {
          if (failure.code === "unauthorized" && (await this.#hasOtherKey(key))) continue;
          throw failure;
        }
        const wanted = failure instanceof Refused ? Math.min(failure.retryAfter ?? 0, 60) : 0;
        const retryIn = Math.max(this.#backoff.pause(), wanted);
        this.options.onNotice?.({ kind: "lost", cause: failure.message, retryIn });
        await sleep(retryIn, this.#ended.signal);
      }
    }
  }

  /** Waits for a new key: whoever has replaced it stores it a moment later. */
  async #hasOtherKey(refused: string | null): Promise<boolean> {
    for (const until = Date.now() + 3000; this.http.keySource && Date.now() < until; await sleep(0.1, this.#ended.signal)) {
      if (await this.http.renewKey(refused)) return true;
    }
    return false;
  }

  /** Connects and returns events until the connection ends. */
  async *#connection(): AsyncGenerator<Event> {
    const link = new AbortController();
    let isGreeted = false;
    const end = () => link.abort(new AnswerLost("the stream was closed"));
    this.#ended.signal.addEventListener("abort", end);
    let timer = setTimeout(() => link.abort(new AnswerLost("the hub did not greet within 15 seconds")), 15_000);
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.#unheard(link).then((isAlive) => isAlive && !link.signal.aborted && watch()), SILENCE);
    };
    try {
      const source = this.#source(link.signal, () => isGreeted && watch());
      const first = await source.next().catch((failure) => this.#notOpened(failure, link.signal));
      if (!first?.value) return;
      if (!first.value.connected) throw new NotAHub("an event before the greeting");
      isGreeted = true;
      watch();
      this.#failures = 0;
      if (!this.#greeted(first.value)) return;
      for await (const frame of source) {
        watch();
        this.#backoff.reset();
        if (frame.connected || frame.event.cursor <= (this.cursor ?? -1)) continue;
        const { event } = frame;
        const isKnown = this.#knownUntil !== null && event.createdAt !== null && event.createdAt <= this.#knownUntil;
        if (!isKnown) this.#knownUntil = null;
        if (isKnown) this.cursor = event.cursor;
        else yield event;
      }
    } finally {
      clearTimeout(timer);
      this.#ended.signal.removeEventListener("abort", end);
      link.abort(new AnswerLost("the stream was closed"));
    }
  }

  /** Takes the start of a connection. False: connect once more, at the end of the log. */
  #greeted(start: Place): boolean {
    const before = this.cursor === null ? null : { cursor: this.cursor, epoch: this.epoch };
    const isOther = before !== null && before.epoch !== null && start.epoch !== null && before.epoch !== start.epoch;
    this.cursor = start.cursor;
    this.epoch = start.epoch;
    if (before && (isOther || start.cursor < before.cursor)) {
      this.options.onNotice?.({ kind: "rewound", from: before.cursor, to: start.cursor });
      if (this.#isLive && isOther) {
        this.#knownUntil = this.#lastAt;
        // It cannot be told what is new.
        if (this.#lastAt === null) this.cursor = null;
      }
    }
    if (this.cursor === null) return false;
    this.options.onNotice?.({ kind: "connected", transport: this.#transport, cursor: start.cursor, epoch: start.epoch });
    return true;
  }

  /** After a long silence. A socket shows no pings, so there the hub is asked whether something should have come. */
  async #unheard(link: AbortController): Promise<boolean> {
    if (this.#transport === "ws" && this.cursor !== null) {
      const place = { after: this.cursor, epoch: this.epoch ?? undefined };
      const page = await this.calls.eventsRead(place, { signal: link.signal }).catch(() => null);
      if (page?.events.length === 0 && epochOf(page.epoch) === this.epoch) return true;
    }
    link.abort(new AnswerLost(`nothing arrived for ${SILENCE / 1000} seconds`));
    return false;
  }

  async #notOpened(failure: unknown, signal: AbortSignal): Promise<undefined> {
    if (this.#transport === "poll" || failure instanceof Unreachable || this.#ended.signal.aborted) throw failure;
    // A proxy may refuse what the hub would not. So the hub is asked in the plainest way.
    if (!signal.aborted) await this.calls.eventsRead({ after: this.cursor ?? Number.MAX_SAFE_INTEGER }, { signal });
    this.#failures += 1;
    const isRefused = failure instanceof Refused || failure instanceof NotAHub;
    if (this.options.transport || (!isRefused && this.#failures < 2)) throw new AnswerLost((failure as Error).message);
    this.#use(this.#transports[this.#transports.indexOf(this.#transport) + 1] as Transport);
    return undefined;
  }

  #use(transport: Transport): void {
    this.#transport = transport;
    this.#failures = 0;
    this.#lesserSince = transport === this.#transports[0] ? 0 : Date.now();
  }

  #source(signal: AbortSignal, heard: () => void): AsyncGenerator<Frame> {
    if (this.#transport === "poll") return this.#poll(signal);
    const query = new URLSearchParams();
    if (this.cursor !== null) query.set("after", String(this.cursor));
    if (this.cursor !== null && this.epoch !== null) query.set("epoch", this.epoch);
    return this.#transport === "ws" ? this.#socket(query, signal) : this.#sse(query, signal, heard);
  }

  async *#sse(query: URLSearchParams, signal: AbortSignal, heard: () => void): AsyncGenerator<Frame> {
    const request = { method: "GET", path: `/events/stream?${query}`, stream: true, signal };
    const { response } = await this.http.send(request, 0);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let received = ""; ; ) {
        const part = await reader?.read().catch((cause) => Promise.reject(new AnswerLost("the stream broke", { cause })));
        if (!part || part.done) throw new AnswerLost("the hub ended the stream");
        heard();
        const blocks = (received + part.value).split("\n\n");
        received = blocks.pop() ?? "";
        if (received.length > FRAME_CHARS_MAX) throw new NotAHub("an event without an end");
        for (const block of blocks) {
          const data = block
            .split("\n")
            .filter((line) => line.startsWith("data:"))
            .map((line) => line.slice(5).replace(/^ /, ""));
          if (data.length > 0) yield parseFrame(data.join("\n"));
        }
      }
    } finally {
      await reader?.cancel().catch(() => {});
    }
  }

  async *#socket(query: URLSearchParams, signal: AbortSignal): AsyncGenerator<Frame> {
    // A browser cannot send the key with a socket.
    query.set("ticket", (await this.calls.pushTicket({ signal })).ticket);
    const socket = new WebSocket(`${this.http.url.replace(/^http/, "ws")}/ws?${query}`);
    let [queue, wake, ended]: [string[], () => void, Error | null] = [[], () => {}, null];
    const end = (cause: string) => {
      if (ended) return;
      ended = new AnswerLost(cause);
      socket.close();
      wake();
    };
    socket.onmessage = ({ data }) => {
      if (ended) return;
      queue.push(String(data));
      // Who reads slowly gets the rest with the next connection.
      if (queue.length >= QUEUE_MAX) end("events came faster than they were read");
      wake();
    };
    socket.onclose = ({ reason }) => end(`the hub closed the stream: ${reason}`);
    socket.onerror = () => end("the socket broke");
    const closed = () => end(String(signal.reason?.message));
    signal.addEventListener("abort", closed);
    try {
      for (;;) {
        const arrived = queue;
        queue = [];
        for (const frame of arrived) yield parseFrame(frame);
        if (queue.length > 0) continue;
        if (ended) throw ended;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener("abort", closed);
      end("no longer read");
    }
  }

  async *#poll(signal: AbortSignal): AsyncGenerator<Frame> {
    const asked = { cursor: this.cursor ?? Number.MAX_SAFE_INTEGER, epoch: this.epoch };
    const read = ({ cursor, epoch }: Place, wait?: number) =>
      this.calls.eventsRead({ after: cursor, epoch: epoch ?? undefined, wait }, { signal });
    const page = await read(asked);
    const at: Place = { cursor: page.cursor, epoch: epochOf(page.epoch) };
    // Events that follow a cursor show that it is not beyond the end.
    const [first] = page.events;
    if (first) at.cursor = asked.epoch === null || asked.epoch === at.epoch ? asked.cursor : first.id - 1;
    yield { connected: true, ...at };
    for (const until = Date.now() + LESSER; Date.now() < until; ) {
      const next = await read(at, 25);
      if (epochOf(next.epoch) !== at.epoch || next.cursor < at.cursor) return;
      for (const event of next.events) {
        if (event.id <= at.cursor) throw new NotAHub("a log whose cursor does not advance");
        at.cursor = event.id;
        yield { connected: false, event: eventOf(event) };
      }
    }
  }
}
