// A hub, seen by one agent: its calls, its tasks, its events.
/// <reference lib="esnext.disposable" preserve="true" />
import { AnswerLost, type Refused, TandemError, TimedOut, Untrusted } from "./errors.js";
import { type Event, type EventOptions, EventStream } from "./events.js";
import type { Calls } from "./generated/calls.js";
import { Backoff, everyPage, Http, randomKey, sleep } from "./http.js";
import { foldedName, Keyring, oneLine } from "./keyring.js";
import { type Bytes, INSPECT, PrivateKey, PublicKey, sha256, toBase64 } from "./seal.js";
import { type FileContent, Sealer } from "./sealed.js";
import { Task } from "./task.js";
import type { ConnectionView, CreateTask, Profile, Schemas } from "./types.js";
import { type Handler, Worker, type WorkerOptions } from "./worker.js";

export interface TandemOptions {
  key?: string | undefined;
  keyring?: Keyring | undefined;
  /** Seconds for which a call is repeated if it fails for a passing reason. */
  patience?: number | undefined;
  /** Asked for the key when the hub refuses it. */
  keySource?: () => Promise<string | null>;
  fetch?: typeof globalThis.fetch;
}
/** A file to send. With `tandem-hub/node` also the path of one. */
export type FileInput = string | File | { name: string; data: string | Uint8Array; mime?: string };
export type SendOptions = Omit<CreateTask, "targetAgentId" | "title" | "description"> & {
  files?: FileInput[];
  encrypt?: boolean;
};
export type About = Omit<Schemas["RegisterAgent"], "name" | "publicKey" | "apiKeyHash" | "challenge" | "solution">;
export interface RegisterOptions extends About {
  /** With a key for encryption (default). Keep `hub.keyring.key.pem`: a lost one cannot be recovered. */
  encrypted?: boolean;
  patience?: number;
}

const TYPES: Record<string, string> = {
  pdf: "application/pdf",
  json: "application/json",
  csv: "text/csv",
  svg: "image/svg+xml",
  jpg: "image/jpeg",
};
function typeOf(name: string, bytes: Uint8Array): string {
  const ending = name.split(".").pop()?.toLowerCase() ?? "";
  if (/^(png|jpeg|gif|webp)$/.test(ending)) return `image/${ending}`;
  if (TYPES[ending]) return TYPES[ending];
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return "text/plain";
  } catch {
    return "application/octet-stream";
  }
}
export const newKey = (): string =>
  `tdm_${toBase64(crypto.getRandomValues(new Uint8Array(32)))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=/g, "")}`;

/** The solution of a challenge: a text that, after it, has a SHA-256 with so many zero bits in front. */
export async function solve({ challenge, difficulty }: Schemas["Challenge"]): Promise<{ challenge?: string; solution?: string }> {
  if (difficulty === 0) return {};
  if (difficulty > 40) throw new RangeError(`the hub asks for a proof of work that nobody can solve (difficulty ${difficulty})`);
  for (let attempt = 0; ; attempt++) {
    const hash = BigInt(`0x${await sha256(challenge + attempt)}`);
    if (hash >> BigInt(256 - difficulty) === 0n) return { challenge, solution: String(attempt) };
  }
}

/** Registers an agent with a key that was made before. A lost answer costs nothing: whoever has the key is the agent. */
export async function registerAgent(
  url: string,
  about: Schemas["RegisterAgent"],
  key: string,
  { idempotencyKey = randomKey(), patience = 30 }: { idempotencyKey?: string; patience?: number | undefined } = {},
): Promise<Profile> {
  const { calls } = new Tandem(url, { patience });
  try {
    const body = { ...about, ...(await solve(await calls.agentsChallenge())), apiKeyHash: await sha256(key) };
    return await calls.agentsRegister(body, { idempotencyKey });
  } catch (failure) {
    const holder = await new Tandem(url, { key, patience: 0 }).calls.agentsProfile().catch(() => null);
    if (holder) return holder;
    throw failure;
  }
}

export class Tandem {
  readonly http: Http;
  readonly calls: Calls;
  readonly sealer: Sealer;
  #agent: Promise<string> | null = null;
  #closed = new AbortController();
  #waiting = new Set<(event: Event | null, failure?: unknown) => void>();
  #stream: EventStream | null = null;

  constructor(
    url: string,
    readonly options: TandemOptions = {},
  ) {
    const { key = null, keySource = null, patience = 30 } = options;
    this.http = new Http(url, key, keySource, patience, options.fetch ?? fetch);
    this.calls = this.http.calls();
    this.sealer = new Sealer(this.calls, options.keyring ?? null);
  }

  /** Makes an agent on a hub. Keep `hub.http.key` and, if it is encrypted, the key of `hub.keyring`. */
  static async register(
    url: string,
    name: string,
    { encrypted = true, patience, ...about }: RegisterOptions = {},
  ): Promise<Tandem> {
    const [key, secret] = [newKey(), encrypted ? await PrivateKey.generate() : null];
    const publicKey = secret ? { publicKey: secret.publicKey.pem } : {};
    const { id } = await registerAgent(url, { name, ...about, ...publicKey }, key, { patience });
    return new Tandem(url, { key, patience, keyring: secret ? new Keyring(id, name, secret) : undefined });
  }

  /** Without the key, for logs. */
  toJSON(): string {
    return `[hub ${this.http.url}]`;
  }
  [INSPECT](): string {
    return this.toJSON();
  }
  get keyring(): Keyring | null {
    return this.sealer.ring;
  }
  /** Ends all streams. */
  async close(): Promise<void> {
    this.#closed.abort();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
  agentId(): Promise<string> {
    this.#agent ??= this.keyring ? Promise.resolve(this.keyring.agent) : this.calls.agentsProfile().then(({ id }) => id);
    this.#agent.catch(() => {
      this.#agent = null;
    });
    return this.#agent;
  }

  /** Replaces the API key by one that is made here, and goes on with it. */
  async rotateKey(made: string = newKey()): Promise<string> {
    const old = this.http.key;
    try {
      await this.calls.agentsRotateKey({ apiKeyHash: await sha256(made) });
    } catch (failure) {
      // The hub refuses the old key, or the new one as taken, when it has done this already.
      const isOpen =
        failure instanceof TandemError &&
        (failure.mayHaveTakenEffect || /^(unauthorized|key_taken)$/.test((failure as Refused).code));
      this.http.key = made;
      const holder = isOpen ? await this.calls.agentsProfile().catch(() => null) : null;
      this.http.key = holder ? made : old;
      if (!holder) throw failure;
    }
    this.http.key = made;
    return made;
  }

  /** Without a code: makes one for another agent. With one: connects, and pins the other's key. */
  pair(): Promise<Schemas["PairingCodeView"]>;
  pair(code: string): Promise<Schemas["ConnectedView"]>;
  async pair(code?: string): Promise<Schemas["PairingCodeView"] | Schemas["ConnectedView"]> {
    if (code === undefined) return this.calls.connectionsGenerateCode();
    const connected = await this.calls.connectionsRedeemCode({ code });
    const { agentId, agentName: name, publicKey } = connected;
    if (this.keyring && publicKey) await this.keyring.check(agentId, { name, key: await PublicKey.fromPem(publicKey) });
    return connected;
  }

  /** Pins the key that the hub presents for an agent now, in place of any other. First compare the words of `presented`. */
  async trust(agent: string): Promise<void> {
    const ring = this.sealer.keyring();
    await ring.accept(agent, await this.sealer.presentedKey(agent));
  }

  /** The connected agent that a word means: its id, your alias for it, or its whole name. */
  async connection(named: string): Promise<ConnectionView> {
    const all: ConnectionView[] = [];
    for await (const page of everyPage((query) => this.calls.connectionsList(query))) all.push(...page);
    const [folded, isId] = [foldedName(named), foldedName(named).startsWith("agent_")];
    const alias = (one: ConnectionView) => (isId ? null : (one.alias ?? null));
    const steps: ((one: ConnectionView) => boolean)[] = [
      (one) => one.agentId === named,
      (one) => alias(one) === named,
      (one) => alias(one) !== null && foldedName(alias(one) as string) === folded,
      (one) => !isId && foldedName(one.agentName) === folded,
    ];
    const found = steps.map((is) => all.filter(is)).find((some) => some.length > 0 && folded !== "") ?? [];
    if (found.length > 1)
      throw new Untrusted("same_name", `${oneLine(named)} can mean ${found.map(({ agentId }) => agentId).join(" or ")}`);
    const [one] = found;
    if (!one) throw new Untrusted("unknown_peer", `there is no connection to ${oneLine(named)}`);
    if (one.agentId !== named) await this.keyring?.checkNamed(named, one.agentId);
    return one;
  }

  /** Sends a task. With files it is a draft until they are there, so that its target never sees it without them. */
  async send(
    to: string,
    title: string,
    description = "",
    { files = [], encrypt = false, ...options }: SendOptions = {},
  ): Promise<Task> {
    const peer = await this.connection(to).then(
      ({ agentId }) => agentId,
      (failure) => {
        // A member of a network has no connection.
        if (failure instanceof Untrusted && failure.code === "unknown_peer" && /^agent_\w+$/.test(to)) return to;
        throw failure;
      },
    );
    const contents = await Promise.all(files.map((file) => this.readFile(file)));
    const draft = contents.length > 0 ? { draft: true } : {};
    const plain = { targetAgentId: peer, title, description: description || undefined };
    const sealed = encrypt ? await this.sealer.sealTask(options.id, peer, title, description) : {};
    const sent = { ...plain, ...options, ...draft, ...sealed };
    const view = await this.calls.tasksCreate(sent);
    const isAsSent = view.encrypted === encrypt && view.targetAgentId === peer && (!sent.id || view.id === sent.id);
    if (!isAsSent) throw new Untrusted("presented_as_plain", `the hub presents ${view.id} as another task than was created`);
    const task = await Task.open(this, view);
    for (const { name, mime, bytes } of contents) await task.upload({ name, mime, data: bytes });
    return contents.length > 0 && !options.draft ? task.setStatus("submitted") : task;
  }
  async task(id: string): Promise<Task> {
    const view = await this.calls.tasksView(id);
    if (view.id !== id) throw new Untrusted("presented_as_plain", `instead of ${id} the hub presents ${view.id}`);
    return Task.open(this, view);
  }
  async readFile(input: FileInput): Promise<FileContent> {
    if (typeof input === "string") throw new TypeError("paths of files need tandem-hub/node");
    const data = input instanceof Blob ? await input.arrayBuffer() : input.data;
    const bytes: Bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
    return { name: input.name, mime: ("mime" in input ? input.mime : undefined) ?? typeOf(input.name, bytes), bytes };
  }

  /** This agent's events: those after a cursor, or only new ones. */
  events(options: EventOptions = {}): EventStream {
    const signal = options.signal ? AbortSignal.any([options.signal, this.#closed.signal]) : this.#closed.signal;
    return new EventStream(this.http, this.http.calls(0), { ...options, signal });
  }
  /** Calls `heard` for each new event, and with null when some may have been missed. Returns how to end that. */
  listen(heard: (event: Event | null, failure?: unknown) => void): () => void {
    this.#waiting.add(heard);
    if (!this.#stream) void this.#read();
    return () => {
      this.#waiting.delete(heard);
      if (this.#waiting.size === 0) void this.#stream?.return();
      if (this.#waiting.size === 0) this.#stream = null;
    };
  }
  async #read(): Promise<void> {
    const tell = (event: Event | null, failure?: unknown) => {
      if (this.#stream === stream) for (const heard of this.#waiting) heard(event, failure);
    };
    const stream = this.events({ onNotice: ({ kind }) => kind !== "lost" && tell(null) });
    this.#stream = stream;
    try {
      for await (const event of stream) tell(event);
      tell(null, new AnswerLost("the hub was closed"));
    } catch (failure) {
      tell(null, failure);
    }
    if (this.#stream === stream) this.#stream = null;
  }
  /** Checks now, after each event about a task and every minute, until there is an answer. */
  async until<T>(
    task: string,
    check: () => Promise<T | undefined>,
    { timeout, signal }: { timeout?: number | undefined; signal?: AbortSignal } = {},
  ): Promise<T> {
    const deadline = timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeout * 1000;
    let [isDue, failed, wake]: [boolean, unknown, () => void] = [true, null, () => {}];
    const backoff = new Backoff();
    const end = this.listen((event, failure) => {
      isDue ||= event === null || event.taskId === task;
      failed ??= failure;
      if (isDue || failed) wake();
    });
    try {
      for (;;) {
        signal?.throwIfAborted();
        if (failed) throw failed;
        const left = (deadline - Date.now()) / 1000;
        if (left <= 0) throw new TimedOut(`nothing came of ${task} within ${timeout} seconds`);
        if (isDue) {
          isDue = false;
          const found = await check().catch(async (failure) => {
            // The stream outlasts a hub that is away, and so does who waits.
            if (!(failure instanceof TandemError && failure.isTemporary)) throw failure;
            isDue = true;
            await sleep(Math.min(backoff.pause(), left), signal);
            return undefined;
          });
          if (found !== undefined) return found;
          continue;
        }
        const nap = new AbortController();
        wake = () => nap.abort();
        signal?.addEventListener("abort", wake);
        await sleep(Math.min(60, left), nap.signal);
        signal?.removeEventListener("abort", wake);
        isDue = true;
      }
    } finally {
      end();
    }
  }
  /** A worker of this agent. */
  worker(handler: Handler, options: WorkerOptions): Worker {
    return new Worker(this, handler, options);
  }
}
