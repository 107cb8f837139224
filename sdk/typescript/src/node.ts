// The package for programs on a machine with the command line: its profiles, with the same files, modes and locks.
import { spawn } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { ProfileError, Refused, Untrusted } from "./errors.js";
import { hubUrl, randomKey } from "./http.js";
import { addSeen, CONTENTS_MAX, Keyring, type KeyStore, type Known, type Recorded } from "./keyring.js";
import { PrivateKey, sha256 } from "./seal.js";
import type { FileContent } from "./sealed.js";
import { type FileInput, Tandem as Hub, newKey, type RegisterOptions, registerAgent, type TandemOptions } from "./tandem.js";
import type { Handler, Worker, WorkerOptions } from "./worker.js";

export * from "./index.js";

interface Stored {
  hub: string;
  agent_id: string;
  agent_name: string;
  api_key: string;
  /** A key that a rotation has sent to the hub without hearing back: either of the two is valid. */
  next_api_key?: string;
}
type Release = () => Promise<void>;
const PINS_BYTES_MAX = 64 * 1024 * 1024;

const place = (variable: string, usual: string) => {
  const set = process.env[variable];
  return join(set && isAbsolute(set) ? set : join(homedir(), usual), "tandem");
};
const fileOf = (name: string, suffix: string) => join(place("XDG_CONFIG_HOME", ".config"), "agents", `${name}.${suffix}`);
const stateOf = (name: string) => join(place("XDG_STATE_HOME", ".local/state"), `${name}.d`);
const privateFolder = (path: string) => mkdir(path, { recursive: true, mode: 0o700 });
const isMissing = (failure: unknown) => (failure as NodeJS.ErrnoException).code === "ENOENT";

async function readSecret(path: string, bytesMax = 64 * 1024): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((failure) => {
    if (isMissing(failure)) return null;
    throw new ProfileError(`cannot read ${path}`, { cause: failure });
  });
  try {
    const found = await file?.stat();
    if (!file || !found) return null;
    if (!found.isFile() || found.size > bytesMax) throw new ProfileError(`${path} is not what it should be`);
    if (found.mode & 0o077) throw new ProfileError(`${path} contains a secret, but others can read it: run \`chmod 600\` on it`);
    return await file.readFile("utf8");
  } finally {
    await file?.close();
  }
}
/** Replaces a file as a whole by one that only this user can read, so that it survives a power failure. */
async function writeSecret(path: string, text: string): Promise<void> {
  await privateFolder(dirname(path));
  const draft = join(dirname(path), `.${basename(path)}.${randomKey()}`);
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (failure) {
    await rm(draft, { force: true });
    throw failure;
  }
  const folder = await open(dirname(path));
  await folder.sync().catch(() => {});
  await folder.close();
}
/** Takes the lock that the command line takes (flock), by a program that holds it until it is told; null if another has it. */
async function lock(path: string, mode: "wait" | "try"): Promise<Release | null> {
  await privateFolder(dirname(path));
  await (await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK, 0o600)).close();
  const perl =
    'use Fcntl ":flock"; open(F, "+<", $ARGV[0]) && flock(F, $ARGV[1] eq "try" ? LOCK_EX | LOCK_NB : LOCK_EX) || exit 1; $| = 1; print "\\n"; <STDIN>';
  const ways: [string, string[]][] = [
    ["flock", [mode === "try" ? "-n" : "-x", path, "sh", "-c", "echo; exec cat"]],
    ["perl", ["-e", perl, path, mode]],
  ];
  for (const [program, given] of ways) {
    const child = spawn(program, given, { stdio: ["pipe", "pipe", "ignore"], detached: true });
    const ended = new Promise<"ended" | "missing">((done) => {
      child.once("exit", () => done("ended")).once("error", () => done("missing"));
    });
    const locked = new Promise<"locked">((done) => child.stdout.once("data", () => done("locked")));
    const outcome = await Promise.race([ended, locked]);
    if (outcome === "ended" && mode === "wait") throw new ProfileError(`cannot lock ${path}`);
    if (outcome === "ended") return null;
    if (outcome === "missing") continue;
    child.stdin.on("error", () => {});
    // It ends with this process, and does not keep it.
    for (const part of [child, child.stdin, child.stdout] as unknown as { unref(): void }[]) part.unref();
    return async () => {
      child.ref();
      child.stdin.end();
      await ended;
    };
  }
  throw new ProfileError("neither `flock` nor `perl` is there to lock files of the profile");
}
async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const release = await lock(path, "wait");
  try {
    return await work();
  } finally {
    await release?.();
  }
}

function checkName(name: string): string {
  if (/^(?!\.)[\p{Alphabetic}\p{N}\-_.+]{1,64}$/u.test(name)) return name;
  throw new ProfileError(`${JSON.stringify(name)} cannot be the name of a profile: use 1 to 64 letters, digits, -, _, . and +`);
}
/** Strings in one line are all that a profile has. */
const TOML = /^\s*(\w+)\s*=\s*(?:"""(.*)"""|"((?:[^"\\]|\\.)*)"|'''(.*)'''|'([^']*)')\s*(?:#.*)?$/;
function fromToml(text: string, path: string): Stored {
  const fields: Record<string, string> = {};
  for (const line of text.split("\n").filter((line) => /^\s*[^#\s]/.test(line))) {
    const [, key, long, basic = long, rawLong, raw = rawLong] = line.match(TOML) ?? [];
    if (key === undefined) throw new ProfileError(`${path} is no profile: ${line.replace(/=.*/, "= …")}`);
    const plain = basic?.replace(/\\U0*([0-9A-Fa-f]{1,6})/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
    fields[key] = plain === undefined ? (raw as string) : JSON.parse(`"${plain.replace(/(?<!\\)((?:\\\\)*)"/g, '$1\\"')}"`);
  }
  const { hub, agent_id, agent_name, api_key } = fields;
  if (!hub || !agent_id || agent_name === undefined || !api_key)
    throw new ProfileError(`${path} is no profile: a field is missing`);
  return { ...fields, hub, agent_id, agent_name, api_key };
}
const toToml = (stored: Stored) =>
  Object.entries(stored)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} = ${JSON.stringify(value).replace(/\x7f/g, "\\u007f")}\n`)
    .join("");
async function load(name: string): Promise<Stored | null> {
  const path = fileOf(checkName(name), "toml");
  const text = await readSecret(path);
  return text === null ? null : fromToml(text, path);
}
const save = (name: string, stored: Stored) => writeSecret(fileOf(name, "toml"), toToml(stored));

/** The profile that is named, else the current one, else the only one. */
async function select(named?: string): Promise<[string, Stored]> {
  const folder = place("XDG_CONFIG_HOME", ".config");
  const current = await readFile(join(folder, "current"), "utf8").then(
    (text) => text.trim(),
    () => "",
  );
  let name = named ?? current;
  if (!name) {
    const names = (await readdir(join(folder, "agents")).catch(() => [])).filter((file) => file.endsWith(".toml"));
    if (names.length !== 1)
      throw new ProfileError(names.length === 0 ? "there is no agent on this machine yet" : "which agent? Name a profile");
    name = (names[0] as string).slice(0, -5);
  }
  const stored = await load(name);
  if (!stored) throw new ProfileError(`there is no profile ${name} on this machine`);
  return [name, stored];
}

/** Pins in `NAME.pins`, what was read in `NAME.seen.d`. */
export class FileStore implements KeyStore {
  #version = "";
  #known: Known = { agents: {}, tasks: [] };
  constructor(
    readonly pins: string,
    readonly seen: string,
  ) {}

  async known(): Promise<Known> {
    const found = await stat(this.pins, { bigint: true }).catch(() => null);
    const version = found ? `${found.ino} ${found.mtimeNs} ${found.size}` : "";
    // A file that is gone takes nothing away from what is known.
    if (!found || version === this.#version) return this.#known;
    try {
      this.#known = JSON.parse((await readSecret(this.pins, PINS_BYTES_MAX)) ?? '{"agents":{},"tasks":[]}');
      this.#known.tasks ??= [];
    } catch (cause) {
      throw new Untrusted("pins", `${this.pins}: ${(cause as Error).message}`);
    }
    this.#version = version;
    return this.#known;
  }
  change(change: (known: Known) => boolean | Promise<boolean>): Promise<void> {
    return locked(`${this.pins}.lock`, async () => {
      // Without it every key would be the first one.
      if (this.#version && !existsSync(this.pins)) throw new Untrusted("pins", `${this.pins} was there and is gone`);
      const known = structuredClone(await this.known());
      if (!(await change(known))) return;
      const agents = Object.fromEntries(Object.entries(known.agents).sort(([a], [b]) => (a < b ? -1 : 1)));
      const json = JSON.stringify({ agents, tasks: known.tasks }, null, 2);
      // A longer one could not be read again.
      if (Buffer.byteLength(json) >= PINS_BYTES_MAX) throw new Untrusted("too_many_pins", `${this.pins} is full`);
      await writeSecret(this.pins, json);
    });
  }
  async record(task: string, read: [string, string][], remembered: () => Promise<string[]>): Promise<Recorded[]> {
    const half = async (id: string) => (await sha256(id)).slice(0, 32);
    const path = join(this.seen, await half(task));
    await privateFolder(this.seen);
    return locked(path, async () => {
      const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
      try {
        const bytes = Buffer.alloc(CONTENTS_MAX * 32);
        const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
        const whole = bytesRead - (bytesRead % 32);
        const contents = new Map<string, string>();
        for (let at = 0; at < whole; at += 32) {
          const content = bytes.toString("hex", at, at + 16);
          if (!contents.has(content)) contents.set(content, bytes.toString("hex", at + 16, at + 32));
        }
        if (whole === 0) await this.#removeForgotten(await Promise.all((await remembered()).map(half)), basename(path));
        const recorded = addSeen(contents, read);
        const added = Buffer.from(
          read
            .filter((_, at) => recorded[at] === "new")
            .flat()
            .join(""),
          "hex",
        );
        if (added.length > 0) {
          await file.write(added, 0, added.length, whole);
          await file.truncate(whole + added.length);
          await file.sync();
        }
        return recorded;
      } finally {
        await file.close();
      }
    });
  }
  async #removeForgotten(kept: string[], except: string): Promise<void> {
    const files = await readdir(this.seen);
    const wanted = new Set([...kept, except]);
    if (files.length > 11_000) for (const file of files) if (!wanted.has(file)) await rm(join(this.seen, file), { force: true });
  }
}

async function keyringOf(name: string, { agent_id, agent_name }: Stored): Promise<Keyring | undefined> {
  const pem = await readSecret(fileOf(name, "pem"));
  const store = new FileStore(fileOf(name, "pins"), fileOf(name, "seen.d"));
  return pem === null ? undefined : new Keyring(agent_id, agent_name, await PrivateKey.fromPem(pem), store);
}

export interface ProfileOptions {
  /** Make or use this profile of the command line. */
  profile?: string;
}
/** A hub, seen by one agent, which may be a profile of the command line. */
export class Tandem extends Hub {
  constructor(
    url: string,
    options: TandemOptions = {},
    readonly profile: string | null = null,
  ) {
    super(url, options);
  }

  /** The agent of a profile: the named one, else the current one, else the only one. */
  static async fromProfile(
    named?: string,
    { url, patience }: { url?: string | undefined; patience?: number | undefined } = {},
  ): Promise<Tandem> {
    const [name, stored] = await select(named);
    const keySource = async () => {
      const now = await load(name).catch(() => null);
      // After a rotation without an answer, the refused key is the old one.
      return now?.agent_id === stored.agent_id ? (now.next_api_key ?? now.api_key) : null;
    };
    const keyring = await keyringOf(name, stored);
    return new Tandem(url ?? stored.hub, { key: stored.api_key, keyring, keySource, patience }, name);
  }

  /** Makes an agent on a hub and, if one is named, its profile. What an earlier try has begun is finished. */
  static override async register(url: string, name: string, options: RegisterOptions & ProfileOptions = {}): Promise<Tandem> {
    const { profile, encrypted = true, patience, ...about } = options;
    if (profile === undefined) {
      const made = await Hub.register(url, name, options);
      return new Tandem(url, made.options);
    }
    const [hub, file] = [hubUrl(url), (suffix: string) => fileOf(checkName(profile), suffix)];
    const release = await lock(file("lock"), "try");
    if (!release) throw new ProfileError(`another program is just making or changing the profile ${profile}`);
    try {
      if (await load(profile)) throw new ProfileError(`there is already a profile ${profile} on this machine`);
      const begun = JSON.parse((await readSecret(file("pending"))) ?? "null");
      if (begun && (begun.hub !== hub || begun.request.name !== name))
        throw new ProfileError(`another registration was begun as ${profile}`);
      const pending = begun ?? { hub, apiKey: newKey(), idempotencyKey: randomKey(), encrypted, request: { name, ...about } };
      const stored = await readSecret(file("pem"));
      if (!begun && stored !== null) throw new ProfileError(`there is a private key without a profile: ${file("pem")}`);
      const key = stored !== null ? await PrivateKey.fromPem(stored) : pending.encrypted ? await PrivateKey.generate() : null;
      // The keys are written down before the hub hears of them, so that no lost answer loses the agent.
      await writeSecret(file("pending"), JSON.stringify(pending));
      if (key) await writeSecret(file("pem"), key.pem);
      const request = { ...pending.request, ...(key && { publicKey: key.publicKey.pem }) };
      const options = { idempotencyKey: pending.idempotencyKey, patience };
      const agent = await registerAgent(hub, request, pending.apiKey, options).catch(async (failure) => {
        // What was written down goes if the hub has refused it, and knows nothing of an earlier try.
        const isRefused = !begun && failure instanceof Refused && failure.status < 500;
        const asked = new Hub(hub, { key: pending.apiKey, patience: 0 }).calls.agentsProfile();
        const answer = await asked.catch((why) => why);
        if (isRefused && answer.code === "unauthorized")
          await Promise.all([rm(file("pending")), rm(file("pem"), { force: true })]);
        throw failure;
      });
      await save(profile, { hub, agent_id: agent.id, agent_name: agent.name, api_key: pending.apiKey });
      await rm(file("pending"));
    } finally {
      await release();
    }
    return Tandem.fromProfile(profile, { patience });
  }
  /** Replaces the API key, in the profile too. A rotation that was cut off goes on with its key. */
  override async rotateKey(): Promise<string> {
    if (this.profile === null) return super.rotateKey();
    const release = await lock(fileOf(this.profile, "lock"), "try");
    if (!release) throw new ProfileError(`another program is just making or changing the profile ${this.profile}`);
    try {
      const stored = await load(this.profile);
      if (!stored) throw new ProfileError(`another program has removed the profile ${this.profile}`);
      const { next_api_key = newKey(), ...before } = stored;
      await save(this.profile, { ...before, next_api_key });
      this.http.key = before.api_key;
      await super.rotateKey(next_api_key).catch(async (failure) => {
        if ((failure as Partial<Refused>).code === "key_taken") await save(this.profile as string, before);
        throw failure;
      });
      await save(this.profile, { ...before, api_key: next_api_key });
      return next_api_key;
    } finally {
      await release();
    }
  }

  /** Also the file of a path. */
  override async readFile(input: FileInput): Promise<FileContent> {
    return super.readFile(typeof input === "string" ? { name: basename(input), data: await readFile(input) } : input);
  }

  /** A key for a worker that stays the same over restarts; as many workers at once as there are files. */
  async sessionKey(): Promise<[string | undefined, Release]> {
    for (let number = 1; this.profile !== null && number <= 16; number++) {
      const path = join(stateOf(this.profile), `sdk-worker-${number}.lock`);
      const release = await lock(path, "try");
      if (!release) continue;
      const file = await open(path, constants.O_RDWR);
      const key = (await file.readFile("utf8")).trim() || `sdk_${randomKey()}`;
      await file.write(key, 0);
      await file.close();
      return [key, release];
    }
    return [undefined, async () => {}];
  }
}

export type AgentOptions = WorkerOptions & { patience?: number; url?: string };
/** A worker for the agent of a profile. `run` works until `stop`, SIGINT or SIGTERM, and finishes what was begun. */
export function agent(
  profile: string | undefined,
  options: AgentOptions,
  handler: Handler,
): { run(): Promise<void>; stop(): void } {
  let [worker, stops]: [Worker | null, number] = [null, 0];
  const stop = () => {
    stops += 1;
    worker?.stop();
  };
  const run = async () => {
    const hub = await Tandem.fromProfile(profile, options);
    const [sessionKey, release] = await hub.sessionKey();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
    try {
      worker = hub.worker(handler, { ...options, sessionKey });
      if (stops > 0) worker.stop();
      await worker.run();
    } finally {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
      await hub.close();
      await release();
    }
  };
  return { run, stop };
}
