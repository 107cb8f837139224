// Encrypted tasks over the hub's calls: seals what goes out, opens what comes in, and trusts only what a pinned key has signed.
import { SealError, type TrustCode, Untrusted } from "./errors.js";
import type { Calls } from "./generated/calls.js";
import { everyPage, randomKey } from "./http.js";
import { type Keyring, oneLine, otherParty, type PeerKey, safeName } from "./keyring.js";
import { type Bytes, fromBase64, open, PublicKey, type Sealed, seal, toBase64 } from "./seal.js";
import type { CreateTask, MessageView, TaskView } from "./types.js";

export const CLEAR_TITLE = "Encrypted Task";
const CLEAR_FILENAME = "encrypted_file";
const DELETED = "[deleted]";
const SEALED_ID = "task_sealed_";
const FILE_BYTES_MAX = 50 * 1024 * 1024;

/** Plain: not encrypted. Verified: a pinned key has signed it. Unopened: a file, opened when it is read. */
export type Trust = "plain" | "verified" | "unopened" | "unreadable";
/** A view in the clear, as far as it could be opened. What could not be is left out: the hub could have written it. */
export interface Opened<View> {
  view: View;
  trust: Trust;
  why?: string;
}
export interface FileContent {
  name: string;
  mime: string;
  bytes: Bytes;
}

/** What no signature covers: on an encrypted task the hub alone could have written it. */
const UNSIGNED = { messageId: null, parts: null, metadata: null, referenceTaskIds: null, acceptedOutputModes: null };
const refuse = (code: TrustCode, why: string) => new Untrusted(code, why);
const isFileId = (content: string) => content.length < 30 && /^[A-Za-z0-9_-]+$/.test(content);
const sealedOf = (content: string, keys: unknown, signature: unknown): Sealed => {
  if (!keys || !signature) throw refuse("unreadable", "its keys or its signature are missing");
  return { content, keys: keys as Record<string, string>, signature: String(signature) };
};
const parse = <T extends Record<string, string>>(kind: string, json: string, fields: (keyof T)[]): T => {
  try {
    const parsed = JSON.parse(json);
    if (fields.every((field) => typeof parsed?.[field] === "string")) return parsed;
  } catch {}
  throw new SealError("envelope", `it was opened, but there is no ${kind} inside`);
};
const unreadable = (view: MessageView, why: string): Opened<MessageView> => ({
  view: { ...view, content: "" },
  trust: "unreadable",
  why,
});

export class Sealer {
  /** Keys that the hub presented to this program and that match their pins. */
  readonly #checked = new Map<string, PublicKey>();

  constructor(
    readonly calls: Calls,
    readonly ring: Keyring | null,
  ) {}

  keyring(): Keyring {
    if (!this.ring) throw refuse("no_key", "this agent has no private key here, so it can neither seal nor open");
    return this.ring;
  }

  /** Whether content for a task must be sealed. An error if it is known to be encrypted, but the hub says that it is not. */
  async isEncrypted(task: TaskView): Promise<boolean> {
    const isKnown = task.id.startsWith(SEALED_ID) || (await this.ring?.isSealed(task.id));
    if (!task.encrypted && isKnown)
      throw refuse("presented_as_plain", `${task.id} is encrypted, but the hub says that it is not`);
    return task.encrypted;
  }

  /** The public key that the hub presents for an agent now, not compared with any pin. */
  async presentedKey(agent: string): Promise<PeerKey> {
    const peer = async (name: string, alias: string | null, pem?: string | null): Promise<PeerKey> => {
      if (!pem) throw refuse("no_peer_key", `${oneLine(name)} (${agent}) has no key for encryption`);
      return { name: oneLine(name), alias: alias === null ? null : oneLine(alias), key: await PublicKey.fromPem(pem) };
    };
    for await (const page of everyPage((query) => this.calls.connectionsList(query))) {
      const one = page.find((item) => item.agentId === agent);
      if (one) return peer(one.agentName, one.alias ?? null, one.publicKey);
    }
    for (const network of (await this.calls.networksList()).items) {
      for await (const page of everyPage((query) => this.calls.networksMembers(network.id, query))) {
        const one = page.find((item) => item.agentId === agent);
        if (one) return peer(one.agentName, null, one.publicKey);
      }
    }
    throw refuse("unknown_peer", `the hub shows no key of ${agent}: you are not connected`);
  }

  async #keyForSealing(agent: string): Promise<PublicKey> {
    const before = this.#checked.get(agent);
    // The owner may have accepted another key since.
    if (before && (await this.keyring().pinned(agent))?.fingerprint === before.fingerprint) return before;
    const found = await this.presentedKey(agent);
    await this.keyring().check(agent, found);
    this.#checked.set(agent, found.key);
    return found.key;
  }
  async #keyForOpening(agent: string): Promise<PublicKey> {
    const ring = this.keyring();
    if (agent === ring.agent) return ring.key.publicKey;
    return (await ring.pinned(agent)) ?? (await this.#keyForSealing(agent));
  }

  /** The other participant of a task. An error if it was another one when the task was created or first opened. */
  async #peerOf(task: TaskView): Promise<string> {
    const { agent } = this.keyring();
    const parties = [task.initiatorAgentId, task.targetAgentId].filter((party) => party !== agent);
    const peer = parties.length === 1 ? parties[0] : undefined;
    if (!peer) throw refuse("unreadable", `${agent}, whose key this is, has no part in the task`);
    const known = await this.keyring().peer(task.id);
    if (known !== null && known !== peer) throw otherParty(task.id, known, peer);
    return peer;
  }
  /** The same, whose key is pinned, or may be at first sight: only by a task that was received and is seen the first time. */
  async #pinnablePeer(task: TaskView): Promise<string> {
    const [ring, peer] = [this.keyring(), await this.#peerOf(task)];
    const isNew = task.targetAgentId === ring.agent && (await ring.peer(task.id)) === null;
    if (isNew || (await ring.pinned(peer))) return peer;
    throw refuse("not_pinned", `the key of ${peer} is not pinned, so nothing about ${task.id} can be verified`);
  }

  async #open(task: string, by: string, sealed: Sealed): Promise<string> {
    const ring = this.keyring();
    try {
      return await open(task, sealed, ring.agent, ring.key, await this.#keyForOpening(by));
    } catch (failure) {
      // A signature fails also if the sender has a new key; that is the better reason.
      if (failure instanceof SealError && failure.part === "signature" && by !== ring.agent) {
        await this.#keyForSealing(by).catch((why) => {
          if (why instanceof Untrusted && /^(key_changed|another_agent)$/.test(why.code)) throw why;
        });
      }
      throw failure;
    }
  }

  /** Opens the description. That the task is encrypted is remembered, whether it can be opened or not. */
  async #description(task: TaskView): Promise<{ title: string; description: string }> {
    const ring = this.keyring();
    try {
      const isOwn = task.initiatorAgentId === ring.agent;
      const peer = isOwn ? await this.#peerOf(task) : await this.#pinnablePeer(task);
      const sealed = sealedOf(task.description ?? "", task.descriptionKeys, task.senderSignature);
      const clear = await this.#open(task.id, task.initiatorAgentId, sealed);
      if (!isOwn) await ring.remember(task.id, peer);
      return parse<{ title: string; description: string }>("description", clear, ["title", "description"]);
    } finally {
      await ring.remember(task.id, null);
    }
  }

  /** Opens title, description and result of a task. A plain task stays as it is. */
  async openTask(task: TaskView): Promise<Opened<TaskView>> {
    const clear = { title: CLEAR_TITLE, description: null, result: null, descriptionKeys: null, senderSignature: null };
    const view: TaskView = { ...task, ...clear, ...UNSIGNED, contextId: null, approvalNote: null };
    try {
      if (!(await this.isEncrypted(task))) return { view: task, trust: "plain" };
      for (const party of ["initiator", "target"] as const) {
        view[`${party}AgentName`] = await this.#nameOf(task[`${party}AgentId`]);
      }
      const { title, description } = await this.#description(task);
      Object.assign(view, { title, description: description || null });
      if (task.result != null) view.result = await this.#result(task, task.result);
      return { view, trust: "verified" };
    } catch (why) {
      if (why instanceof Untrusted) return { view, trust: "unreadable", why: why.message };
      throw why;
    }
  }
  /** The task has no keys and signature for its result; they are with the message that delivered it. */
  async #result(task: TaskView, content: string): Promise<string> {
    await this.#pinnablePeer(task);
    for await (const page of everyPage((query) => this.calls.messagesList(task.id, query), 1000)) {
      const reply = page.findLast((message) => message.content === content);
      if (!reply) continue;
      const sealed = sealedOf(content, reply.encryptedKeys, reply.senderSignature);
      return parse<{ body: string }>("message", await this.#open(task.id, task.targetAgentId, sealed), ["body"]).body;
    }
    throw refuse("unreadable", "the message with the keys of the result is gone");
  }
  async #nameOf(agent: string): Promise<string> {
    return agent === this.ring?.agent ? this.ring.name : ((await this.ring?.nameOf(agent)) ?? agent);
  }

  /** Opens the messages of a task. What was seen with another message is left out. */
  async openMessages(task: TaskView, given: MessageView[]): Promise<Opened<MessageView>[]> {
    const isPlain = await this.isEncrypted(task).then(
      (is) => !is,
      () => false,
    );
    if (isPlain) return given.map((view) => ({ view, trust: "plain" as const }));
    const messages: MessageView[] = given.map((view) => ({ ...view, ...UNSIGNED, artifact: null }));
    const announced = new Set<string>();
    const opened: Opened<MessageView>[] = [];
    const verified: { at: number; text: string; by: string }[] = [];
    for (const message of messages) {
      const one = await this.#message(task, message);
      const isSecond = one.trust === "unopened" && announced.has(message.content);
      if (one.trust === "unopened") announced.add(message.content);
      if (one.trust === "verified") verified.push({ at: opened.length, text: message.content, by: message.senderAgentId });
      opened.push(isSecond ? unreadable(message, "it was seen with another message") : one);
    }
    const recorded = await this.#record(
      task,
      verified.map(({ at, text, by }) => ({ text, by, message: messages[at]?.id ?? "" })),
    );
    const inThisList = new Set<string>();
    for (const [number, { at, text }] of verified.entries()) {
      const why = recorded[number] ?? (inThisList.has(text) ? "it was seen with another message" : null);
      inThisList.add(text);
      if (why !== null) opened[at] = unreadable(messages[at] as MessageView, why);
    }
    return opened;
  }
  /** Remembers who has signed, and what. Says of each content why it must not be shown, or null. */
  async #record(task: TaskView, read: { text: string; message: string; by: string }[]): Promise<(string | null)[]> {
    const ring = this.keyring();
    try {
      for (const signer of new Set(read.map(({ by }) => by))) if (signer !== ring.agent) await ring.remember(task.id, signer);
      return await ring.record(task.id, read);
    } catch (why) {
      if (why instanceof Untrusted) return read.map(() => why.message);
      throw why;
    }
  }
  async #message(task: TaskView, message: MessageView): Promise<Opened<MessageView>> {
    const { senderAgentId: by, content } = message;
    const view: MessageView = { ...message, senderAgentName: by === "system" ? null : await this.#nameOf(by) };
    if (by === "system" || content === DELETED) return { view, trust: "plain" };
    if (message.contentType !== "encrypted") return unreadable(view, "it is not encrypted, so the hub could have written it");
    if (isFileId(content)) return { view: { ...view, contentType: "file" }, trust: "unopened" };
    try {
      await this.#checkSender(task, by);
      const clear = await this.#open(task.id, by, sealedOf(content, message.encryptedKeys, message.senderSignature));
      const { contentType, body } = parse<{ contentType: string; body: string }>("message", clear, ["contentType", "body"]);
      if (contentType !== "text" && contentType !== "json") throw new SealError("envelope", "there is no message inside");
      return { view: { ...view, content: body, contentType, encryptedKeys: null, senderSignature: null }, trust: "verified" };
    } catch (why) {
      if (why instanceof Untrusted) return unreadable(view, why.message);
      throw why;
    }
  }
  async #checkSender(task: TaskView, by: string): Promise<void> {
    await (by === this.keyring().agent ? this.#peerOf(task) : this.#pinnablePeer(task));
    const hasPart = by === task.initiatorAgentId || by === task.targetAgentId;
    if (!hasPart) throw refuse("unreadable", "its sender has no part in the task");
  }

  /** Downloads the file of a message; on an encrypted task it is verified and opened. */
  async readFile(task: TaskView, message: MessageView): Promise<FileContent> {
    const isEncrypted = await this.isEncrypted(task);
    if (!isFileId(message.content)) throw refuse("unreadable", "the message has no file");
    if (isEncrypted) await this.#checkSender(task, message.senderAgentId);
    const answer = await this.calls.filesDownload(message.content);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (!isEncrypted) {
      const disposition = answer.headers.get("content-disposition") ?? "";
      const [, encoded] = disposition.match(/filename\*=UTF-8''([^;]*)/) ?? [];
      const name = encoded === undefined ? (disposition.match(/filename="([^"]*)"/)?.[1] ?? "") : decodeURIComponent(encoded);
      return { name: safeName(name) ?? "file", mime: answer.headers.get("content-type") ?? "application/octet-stream", bytes };
    }
    const content = toBase64(bytes);
    const clear = await this.#open(
      task.id,
      message.senderAgentId,
      sealedOf(content, message.encryptedKeys, message.senderSignature),
    );
    const file = parse<{ filename: string; mimeType: string; data: string }>("file", clear, ["filename", "mimeType", "data"]);
    const [why] = await this.#record(task, [{ text: content, message: message.id, by: message.senderAgentId }]);
    if (why != null) throw refuse("repeated", why);
    const data = fromBase64(file.data);
    if (!data) throw new SealError("envelope", "there is no file inside");
    return { name: safeName(file.filename) ?? CLEAR_FILENAME, mime: file.mimeType, bytes: data };
  }

  async #seal(task: string, peer: string, value: object): Promise<Sealed> {
    const ring = this.keyring();
    const to = { [ring.agent]: ring.key.publicKey, [peer]: await this.#keyForSealing(peer) };
    return seal(task, ring.key, to, JSON.stringify(value));
  }
  /** The other participant of an existing task. One that is not known yet must have signed the task. */
  async #knownPeer(task: TaskView): Promise<string> {
    const peer = await this.#pinnablePeer(task);
    if (peer === task.initiatorAgentId && (await this.keyring().peer(task.id)) === null) {
      await this.#description(task).catch((why) => {
        // The signature is checked first. An agent with a new key cannot read the task, but can go on with it.
        if (why instanceof SealError && why.part === "closed") return this.keyring().remember(task.id, peer);
        throw why;
      });
    }
    return peer;
  }
  /** The sealed fields of a new task. Its other party is remembered before the call: the answer may get lost. */
  async sealTask(
    id: string | undefined,
    peer: string,
    title: string,
    description: string,
  ): Promise<Pick<CreateTask, "id" | "targetAgentId" | "title" | "encrypted">> {
    const task = id ?? SEALED_ID + randomKey().slice(0, 16);
    const { content, keys, signature } = await this.#seal(task, peer, { title, description });
    await this.keyring().choosePeer(task, peer);
    const fields = { description: content, descriptionKeys: keys, senderSignature: signature };
    return { id: task, targetAgentId: peer, title: CLEAR_TITLE, encrypted: true, ...fields };
  }
  /** The fields of a message or reply: sealed if the task is encrypted. */
  async sealMessage(task: TaskView, body: string): Promise<{ content: string }> {
    if (!(await this.isEncrypted(task))) return { content: body };
    const sealed = await this.#seal(task.id, await this.#knownPeer(task), { contentType: "text", body });
    return {
      content: sealed.content,
      ...{ contentType: "encrypted", encryptedKeys: sealed.keys, senderSignature: sealed.signature },
    };
  }
  /** The fields of an upload: sealed if the task is encrypted. */
  async sealFile(
    task: TaskView,
    { name, mime, bytes }: FileContent,
  ): Promise<{ filename: string; mimeType: string; base64Content: string }> {
    const data = toBase64(bytes);
    if (!(await this.isEncrypted(task))) return { filename: name, mimeType: mime, base64Content: data };
    const value = { filename: name, mimeType: mime, data };
    if (JSON.stringify(value).length > FILE_BYTES_MAX - 128) throw new RangeError(`${name} is too large to be encrypted`);
    const { content, keys, signature } = await this.#seal(task.id, await this.#knownPeer(task), value);
    const fields = { encryptedKeys: keys, senderSignature: signature };
    return { filename: CLEAR_FILENAME, mimeType: "application/octet-stream", base64Content: content, ...fields };
  }
}
