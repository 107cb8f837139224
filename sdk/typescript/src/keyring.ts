// What an agent knows by itself, whatever the hub says now: its key, the pinned keys of others, its encrypted tasks, and what
// it has read. The shapes are those of the files of the command line, so that all programs of an agent share them.
import { type TrustCode, Untrusted } from "./errors.js";
import { PrivateKey, PublicKey, sha256 } from "./seal.js";

const AGENTS_MAX = 10_000;
const NAMES_MAX = 16;
const TASKS_MAX = 10_000;
const UNSIGNED_MAX = 1000;
export const CONTENTS_MAX = 16_384;
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A name in one line without invisible characters. */
export const oneLine = (name: string): string => {
  const blank = [...name]
    .slice(0, 100)
    .join("")
    .replace(/[\p{Cc}\p{White_Space}]/gu, " ");
  return blank.replace(INVISIBLE, "").trim().replace(/ +/g, " ");
};
/** A name as it is compared: names that cannot be told apart by eye are the same. */
export const foldedName = (name: string): string => {
  const small = name.replace(INVISIBLE, "").normalize("NFKC").toLowerCase().normalize("NFKC");
  return small
    .split(/\p{White_Space}+/u)
    .filter(Boolean)
    .join(" ");
};
/** The name of a file without folders, control and invisible characters; null if nothing is left. */
export const safeName = (name: string): string | null => {
  const plain = (name.split(/[/\\]/).pop() ?? "").replace(/\p{Cc}/gu, "").replace(INVISIBLE, "");
  return [...plain].slice(0, 255).join("").trim().replace(/^\.+/, "").trim() || null;
};

export interface Pin {
  name: string;
  /** Aliases and later names, folded. */
  names: string[];
  fingerprint: string;
  publicKey: string;
  /** Whether the owner has sent it an encrypted task. */
  chosen?: true;
}
export interface Known {
  agents: Record<string, Pin>;
  /** Encrypted tasks, the oldest first. The other party is null until its signature was seen. */
  tasks: [task: string, peer: string | null][];
}
export type Recorded = "new" | "known" | "repeated" | "full";
/** Where pins, tasks and what was read are kept. */
export interface KeyStore {
  known(): Promise<Known>;
  /** Changes what is known, alone among all programs of the agent. `change` says whether there is something to keep. */
  change(change: (known: Known) => boolean | Promise<boolean>): Promise<void>;
  /** Records contents of a task by their hashes, each with that of its message. */
  record(task: string, read: [content: string, message: string][], remembered: () => Promise<string[]>): Promise<Recorded[]>;
}
/** A public key as the hub presents it. */
export interface PeerKey {
  name: string;
  alias?: string | null | undefined;
  key: PublicKey;
}

const refuse = (code: TrustCode, message: string) => new Untrusted(code, message);
const namesOf = ({ name, alias }: PeerKey) => [
  ...new Set([name, alias].filter((one) => one != null).map((one) => foldedName(oneLine(one)))),
];
/** The hub says which ids there are, so an id may be any word. */
const pinOf = ({ agents }: Known, agent: string) => (Object.hasOwn(agents, agent) ? agents[agent] : undefined);
const pinFor = ({ name, alias, key }: PeerKey): Pin => {
  return { name: oneLine(name), names: namesOf({ name, alias, key }), fingerprint: key.fingerprint, publicKey: key.pem };
};
function setPin(known: Known, agent: string, pin: Pin): true {
  Object.defineProperty(known.agents, agent, { value: pin, enumerable: true, configurable: true, writable: true });
  return true;
}
const isCalled = (id: string, pin: Pin, name: string) => [id, pin.name, ...pin.names].some((one) => foldedName(one) === name);

/** Adds entries to those of a task, and says of each what it is. */
export function addSeen(seen: Map<string, string>, read: [string, string][]): Recorded[] {
  return read.map(([content, message]) => {
    const before = seen.get(content);
    if (before !== undefined) return before === message ? "known" : "repeated";
    if (seen.size >= CONTENTS_MAX) return "full";
    seen.set(content, message);
    return "new";
  });
}

/** Ends with the process: the first key of each agent is trusted anew. */
export class MemoryStore implements KeyStore {
  #known: Known = { agents: {}, tasks: [] };
  #seen = new Map<string, Map<string, string>>();
  async known(): Promise<Known> {
    return this.#known;
  }
  async change(change: (known: Known) => boolean | Promise<boolean>): Promise<void> {
    await change(this.#known);
  }
  async record(task: string, read: [string, string][], remembered: () => Promise<string[]>): Promise<Recorded[]> {
    const seen = this.#seen.get(task) ?? new Map<string, string>();
    if (this.#seen.size >= TASKS_MAX + UNSIGNED_MAX && !this.#seen.has(task)) {
      const kept = new Set(await remembered());
      for (const known of this.#seen.keys()) if (!kept.has(known)) this.#seen.delete(known);
    }
    this.#seen.set(task, seen);
    return addSeen(seen, read);
  }
}

export class Keyring {
  #keys = new Map<string, PublicKey>();
  constructor(
    readonly agent: string,
    readonly name: string,
    readonly key: PrivateKey,
    readonly store: KeyStore = new MemoryStore(),
  ) {}

  static async fromPem(agent: string, pem: string, store?: KeyStore): Promise<Keyring> {
    return new Keyring(agent, "you", await PrivateKey.fromPem(pem), store);
  }

  async #keyOf(agent: string, pin: Pin): Promise<PublicKey> {
    const parsed = this.#keys.get(pin.publicKey) ?? (await PublicKey.fromPem(pin.publicKey).catch(() => null));
    if (parsed?.fingerprint !== pin.fingerprint) throw refuse("pins", `the pinned key of ${agent} is damaged`);
    this.#keys.set(pin.publicKey, parsed);
    return parsed;
  }
  /** The pinned key of an agent. */
  async pinned(agent: string): Promise<PublicKey | null> {
    const pin = pinOf(await this.store.known(), agent);
    return pin ? this.#keyOf(agent, pin) : null;
  }
  /** The name under which an agent was pinned; null if another one has it too. */
  async nameOf(agent: string): Promise<string | null> {
    const known = await this.store.known();
    const name = oneLine(pinOf(known, agent)?.name ?? "");
    const isShared = Object.entries(known.agents).some(([id, pin]) => id !== agent && isCalled(id, pin, foldedName(name)));
    return name === "" || isShared || foldedName(name) === foldedName(this.name) ? null : name;
  }

  /** Compares a key with the pinned one, and pins the first one, unless another agent is pinned under the same name. */
  async check(agent: string, found: PeerKey): Promise<void> {
    const before = pinOf(await this.store.known(), agent);
    const isKnown = before?.fingerprint === found.key.fingerprint && (await this.pinned(agent)) !== null;
    if (before && isKnown && namesOf(found).every((name) => isCalled(agent, before, name))) return;
    await this.store.change(async (known) => {
      const pin = pinOf(known, agent);
      let names = namesOf(found);
      if (pin) {
        const pinned = await this.#keyOf(agent, pin);
        if (pinned.fingerprint !== found.key.fingerprint) {
          throw refuse(
            "key_changed",
            `the key of ${oneLine(pin.name)} (${agent}) has changed: pinned ${pinned.words}, found ${found.key.words}`,
          );
        }
        names = names.filter((name) => !isCalled(agent, pin, name));
      }
      for (const name of names) this.#refuseOther(known, agent, name);
      if (!pin) {
        if (Object.keys(known.agents).length >= AGENTS_MAX) throw refuse("too_many_pins", "too many agents are pinned");
        return setPin(known, agent, pinFor(found));
      }
      pin.names.push(...names.slice(0, Math.max(0, NAMES_MAX - pin.names.length)));
      return names.length > 0;
    });
  }
  #refuseOther(known: Known, agent: string, name: string): void {
    const other = Object.entries(known.agents).find(([id, pin]) => id !== agent && isCalled(id, pin, name));
    if (other) throw refuse("another_agent", `the hub presents ${agent} as ${oneLine(other[1].name)}, which is ${other[0]}`);
  }
  /** An error if another agent is pinned under a word than the one that the hub finds for it, or if several are. */
  async checkNamed(named: string, agent: string): Promise<void> {
    const known = await this.store.known();
    const called = Object.entries(known.agents).filter(([id, pin]) => isCalled(id, pin, foldedName(named)));
    const isIt = called.some(([id]) => id === agent);
    if (isIt && called.length > 1)
      throw refuse("same_name", `${oneLine(named)} can mean ${called.map(([id]) => id).join(" or ")}`);
    if (!isIt) this.#refuseOther(known, agent, foldedName(named));
  }
  /** Pins a key in place of any other. Only for a person who has compared the fingerprints. */
  async accept(agent: string, found: PeerKey): Promise<void> {
    await this.store.change((known) => {
      const [old, pin] = [pinOf(known, agent), pinFor(found)];
      const before = old ? [old.name, ...old.names].map(foldedName).filter((name) => !isCalled(agent, pin, name)) : [];
      pin.names.push(...[...new Set(before)].slice(0, NAMES_MAX));
      if (old?.chosen) pin.chosen = true;
      return setPin(known, agent, pin);
    });
  }

  async #task(task: string): Promise<[string, string | null] | undefined> {
    return (await this.store.known()).tasks.findLast(([known]) => known === task);
  }
  /** Whether a task was seen encrypted. */
  async isSealed(task: string): Promise<boolean> {
    return (await this.#task(task)) !== undefined;
  }
  /** The other party of an encrypted task, as it was when the task was created or first opened. */
  async peer(task: string): Promise<string | null> {
    return (await this.#task(task))?.[1] ?? null;
  }
  /** Remembers that a task is encrypted and, if it is known, its other party: it never becomes another one. */
  async remember(task: string, peer: string | null): Promise<void> {
    const before = await this.#task(task);
    if (before && (peer === null || before[1] === peer)) return;
    await this.store.change((known) => {
      const entry = known.tasks.findLast(([id]) => id === task);
      if (entry && (peer === null || entry[1] === peer)) return false;
      if (entry?.[1]) throw otherParty(task, entry[1], peer);
      if (entry) entry[1] = peer;
      else known.tasks.push([task, peer]);
      forget(known);
      return true;
    });
  }
  /** Notes that the owner sends an encrypted task to an agent, and with whom it is. */
  async choosePeer(task: string, peer: string): Promise<void> {
    await this.remember(task, peer);
    const before = pinOf(await this.store.known(), peer);
    if (!before || before.chosen) return;
    await this.store.change((known) => {
      const pin = pinOf(known, peer);
      if (pin) pin.chosen = true;
      return pin !== undefined;
    });
  }
  /** Records contents that were opened now. Says of each why it must not be shown, or null. */
  async record(task: string, read: { text: string; message: string }[]): Promise<(string | null)[]> {
    const half = async (text: string) => (await sha256(text)).slice(0, 32);
    const entries = await Promise.all(
      read.map(async ({ text, message }): Promise<[string, string]> => [await half(text), await half(message)]),
    );
    const remembered = async () => (await this.store.known()).tasks.map(([id]) => id);
    const recorded = entries.length > 0 ? await this.store.record(task, entries, remembered) : [];
    const why: Partial<Record<Recorded, string>> = {
      repeated: "it was seen with another message",
      full: "too much of this task was read",
    };
    return recorded.map((one) => why[one] ?? null);
  }
}

export const otherParty = (task: string, known: string, found: string | null): Untrusted =>
  refuse("other_party", `the hub names ${found} as the other party of ${task}, which is ${known}`);

/** An agent that floods this one with tasks makes it forget its own. Agents to which the owner has sent a task come last. */
function forget(known: Known): void {
  const { tasks } = known;
  const unsigned = tasks.filter(([, peer]) => peer === null).length;
  if (unsigned <= UNSIGNED_MAX && tasks.length - unsigned <= TASKS_MAX) return;
  const counts = new Map<string, number>();
  for (const [, peer] of tasks) if (peer !== null) counts.set(peer, (counts.get(peer) ?? 0) + 1);
  const rank = ([peer, count]: [string, number]) => count + (pinOf(known, peer)?.chosen ? 0 : TASKS_MAX * 2);
  const [most] = [...counts].sort((a, b) => rank(b) - rank(a))[0] ?? [];
  const forgotten = unsigned > UNSIGNED_MAX ? null : most;
  const oldest = tasks.findIndex(([, peer]) => peer === forgotten);
  tasks.splice(oldest, 1);
}
