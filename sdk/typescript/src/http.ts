// Calls to the hub: sent, repeated where that is safe, and read. The rules are those of crates/client.
import { AnswerLost, NotAHub, Refused, type TandemError, TimedOut, Unreachable } from "./errors.js";
import { type Calls, OPERATIONS } from "./generated/calls.js";
import { REFUSALS } from "./generated/refusals.js";
import { INSPECT, toHex } from "./seal.js";
import type { ErrorBody } from "./types.js";

export const VERSION = "0.1.0";
const ANSWER_SECONDS = 60;
const RETRY_AFTER_MAX = 86_400;
/** More than any answer has: the largest are exports. */
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

export interface CallOptions {
  /** Instead of a random one: the same call with the same key takes effect once. */
  idempotencyKey?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Seconds beside the usual minute that the answer may take. */
  wait?: number;
}
/** A page of a list, and the cursor of the next one. */
export interface Page<T> {
  items: T[];
  next: string | null;
}
interface Request extends CallOptions {
  method: string;
  path: string;
  body?: unknown;
  /** Hands out the body as it arrives. */
  stream?: boolean;
}
interface Answer {
  response: Response;
  bytes: ArrayBuffer;
}

export const randomKey = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)));
export const sleep = (seconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, signal?.aborted ? 0 : seconds * 1000);
    signal?.addEventListener("abort", done);
  });

/** Pauses that double up to 15 seconds, each shortened at random, so that clients do not come back in step. */
export class Backoff {
  #attempts = 0;
  pause(): number {
    return Math.min(0.2 * 2 ** Math.min(this.#attempts++, 10), 15) * (1 - Math.random() / 2);
  }
  reset(): void {
    this.#attempts = 0;
  }
}

/** The address of a hub, in one spelling. Without a scheme it is http on this machine and https elsewhere. */
export function hubUrl(text: string): string {
  const rest = text.trim();
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/i.test(rest);
  const wrong = () => new TypeError(`${rest.replace(/^.*@/, "…@")} is not the address of a hub, such as https://hub.example.com`);
  if (/[?#@\s]/.test(rest)) throw wrong();
  try {
    const url = new URL(rest.includes("://") ? rest : `http${isLocal ? "" : "s"}://${rest}`);
    if (!/^https?:$/.test(url.protocol)) throw wrong();
    return url.origin + url.pathname.replace(/\/+$/, "");
  } catch {
    throw wrong();
  }
}

/** The error that an answer stands for, which may be a proxy's. */
export function errorOf(status: number, headers: Headers, text: string): TandemError {
  const seconds = headers.get("retry-after") ?? "";
  let retryAfter = /^\d+$/.test(seconds) ? Math.min(Number(seconds), RETRY_AFTER_MAX) : undefined;
  let body: ErrorBody | undefined;
  try {
    const parsed = JSON.parse(text);
    if (typeof parsed?.error === "string" && typeof parsed.code === "string") body = parsed;
  } catch {}
  if (!body && (status === 502 || status === 504)) return new AnswerLost(`a proxy answered in place of the hub (${status})`);
  if (!body && status === 503) {
    // The page of a proxy may name an hour, of which the hub knows nothing.
    retryAfter = undefined;
    body = { error: "the hub is not available (503)", code: "unavailable" };
  }
  if (!body) return new NotAHub(`this is no hub: status ${status} without an error body`);
  const kind = Object.hasOwn(REFUSALS, body.code) ? REFUSALS[body.code] : Refused;
  return new (kind as typeof Refused)(body.code, status, body, retryAfter, headers.get("x-request-id") ?? undefined);
}

/** Reads a body that has an end. */
async function readAll({ body }: Response): Promise<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let total = 0;
  for (const reader = body?.getReader(); ; ) {
    const part = await reader?.read();
    if (!part?.value) return new Blob(parts).arrayBuffer();
    total += part.value.length;
    parts.push(part.value);
    if (total <= ANSWER_BYTES_MAX) continue;
    await reader?.cancel();
    throw new NotAHub(`this is no hub: its answer has more than ${ANSWER_BYTES_MAX} bytes`);
  }
}

/** Whether nothing was sent. A browser does not tell. */
function isUnsent(failure: unknown): boolean {
  const code = String((failure as { cause?: { code?: unknown } }).cause?.code);
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(code);
}

export class Http {
  readonly url: string;
  #reached = false;

  constructor(
    url: string,
    public key: string | null,
    /** Asked when the hub refuses the key: another program may have replaced it. */
    readonly keySource: (() => Promise<string | null>) | null,
    readonly patience: number,
    readonly fetch: typeof globalThis.fetch,
  ) {
    this.url = hubUrl(url);
  }

  /** Without the key, for logs. */
  toJSON(): string {
    return this.url;
  }
  [INSPECT](): string {
    return this.url;
  }

  /** Takes over the key of the source. False if there is none, or if it is the refused one. */
  async renewKey(refused: string | null): Promise<boolean> {
    const renewed = await this.keySource?.();
    if (!renewed) return false;
    this.key = renewed;
    return renewed !== refused;
  }

  /** Sends a call until it succeeds, is refused, or patience ends. */
  async send(request: Request, patience = this.patience): Promise<Answer> {
    const call = request.method === "POST" ? { idempotencyKey: randomKey(), ...request } : request;
    const isRepeatable = call.method === "GET" || call.method === "POST";
    const deadline = Date.now() + patience * 1000;
    const backoff = new Backoff();
    for (let renewed = false; ; ) {
      const { key } = this;
      try {
        return await this.#once(call);
      } catch (failure) {
        call.signal?.throwIfAborted();
        // The hub has done nothing for a key that it does not know.
        if (failure instanceof Refused && failure.code === "unauthorized" && !renewed && (await this.renewKey(key))) {
          renewed = true;
          continue;
        }
        const pause = this.#pauseAfter(failure, isRepeatable, backoff);
        if (pause === null || Date.now() + pause * 1000 > deadline) throw failure;
        await sleep(pause, call.signal);
      }
    }
  }

  #pauseAfter(failure: unknown, isRepeatable: boolean, backoff: Backoff): number | null {
    if (failure instanceof Refused) {
      const isPassing = failure.code === "rate_limited" || (failure.code === "unavailable" && isRepeatable);
      return isPassing ? Math.max(failure.retryAfter ?? 0, backoff.pause()) : null;
    }
    if (failure instanceof Unreachable) return this.#reached ? backoff.pause() : null;
    return failure instanceof AnswerLost && !(failure instanceof NotAHub) && isRepeatable ? backoff.pause() : null;
  }

  async #once(call: Request): Promise<Answer> {
    const { body, wait = 0 } = call;
    // A browser's fetch is not called as a method.
    const { fetch } = this;
    const isPlain = body === undefined || body instanceof FormData;
    const headers = new Headers(call.headers);
    if (this.key) headers.set("authorization", `Bearer ${this.key}`);
    if (call.idempotencyKey) headers.set("idempotency-key", call.idempotencyKey);
    if (!isPlain) headers.set("content-type", "application/json");
    // A browser has its own.
    if ("process" in globalThis) headers.set("user-agent", `tandem-typescript/${VERSION}`);
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), (ANSWER_SECONDS + wait) * 1000);
    const signals = call.signal ? AbortSignal.any([call.signal, limit.signal]) : limit.signal;
    try {
      const init = { method: call.method, headers, redirect: "manual" as const, signal: signals };
      const sent = isPlain ? body : JSON.stringify(body);
      const response = await fetch(this.url + call.path, sent === undefined ? init : { ...init, body: sent });
      const bytes = call.stream && response.ok ? new ArrayBuffer(0) : await readAll(response);
      this.#reached ||= response.ok;
      if (response.ok) return { response, bytes };
      const failure = errorOf(response.status, response.headers, new TextDecoder().decode(bytes));
      this.#reached ||= failure instanceof Refused;
      throw failure;
    } catch (failure) {
      if (failure instanceof Error && "mayHaveTakenEffect" in failure) throw failure;
      call.signal?.throwIfAborted();
      if (limit.signal.aborted) throw new TimedOut(`no answer of ${this.url} within ${ANSWER_SECONDS + wait} seconds`);
      const cause = (failure as Error).cause ?? failure;
      if (isUnsent(failure)) throw new Unreachable(`cannot reach the hub at ${this.url}`, { cause });
      throw new AnswerLost(`the connection to ${this.url} broke before the answer came`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  json<T>({ bytes }: Answer): T {
    try {
      return JSON.parse(new TextDecoder().decode(bytes));
    } catch (cause) {
      throw new NotAHub(`${this.url} is no hub: its answer is no JSON`, { cause });
    }
  }

  /** One method for each operation. */
  calls(patience = this.patience): Calls {
    const calls: Record<string, unknown> = {};
    for (const [name, [method, path, shape, kind]] of Object.entries(OPERATIONS)) {
      calls[name] = async (...given: unknown[]) => {
        const filled = path.replace(/\{\w+\}/g, () => encodeURIComponent(given.shift() as string));
        const body = (shape.includes("b") ? given.shift() : null) ?? undefined;
        const query = new URLSearchParams();
        const asked = shape.includes("q") ? Object.entries((given.shift() as object | undefined) ?? {}) : [];
        for (const [field, value] of asked) if (value !== undefined && value !== null) query.set(field, String(value));
        const search = query.size > 0 ? `?${query}` : "";
        const options = (given.shift() as CallOptions | undefined) ?? {};
        const wait = { wait: options.wait ?? (Number(query.get("wait") ?? 0) || (/^files|Export$/.test(name) ? 900 : 0)) };
        const answer = await this.send({ ...options, ...wait, method, path: filled + search, body }, patience);
        if (kind === "raw") return new Response(answer.bytes, { headers: answer.response.headers });
        if (kind !== "list") return this.json(answer);
        const [, address] = answer.response.headers.get("link")?.match(/<([^>]*)>; rel="next"/) ?? [];
        const next = address === undefined ? null : new URL(address, this.url).searchParams.get("cursor");
        if (next !== null && next === query.get("cursor")) throw new NotAHub("the hub sends a list without an end");
        return { items: this.json(answer), next };
      };
    }
    return calls as unknown as Calls;
  }
}

/** Reads a list page by page. */
export async function* everyPage<T>(
  read: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
  limit = 500,
): AsyncGenerator<T[]> {
  let cursor: string | undefined;
  for (let pages = 0; pages < 10_000; pages++) {
    const { items, next }: Page<T> = await read({ limit, cursor });
    yield items;
    if (next === null) return;
    cursor = next;
  }
  throw new NotAHub("the hub sends a list without an end");
}
