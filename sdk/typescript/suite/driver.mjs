// One agent of the behaviour suite: commands as JSON lines on standard input, answers on standard output.

import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { OPERATIONS } from "../dist/generated/calls.js";
import * as tandem from "../dist/node.js";

const {
  AnswerLost,
  InputRequired,
  InvalidWebhook,
  NotAHub,
  ProfileError,
  Refused,
  Tandem,
  TaskFailed,
  TimedOut,
  Unreachable,
  Untrusted,
} = tandem;
const KINDS = [
  [Refused, "refused"],
  [Unreachable, "unreachable"],
  [TimedOut, "timed_out"],
  [NotAHub, "not_a_hub"],
  [AnswerLost, "lost"],
  [Untrusted, "untrusted"],
  [TaskFailed, "task_failed"],
  [InputRequired, "input_required"],
  [ProfileError, "profile"],
  [InvalidWebhook, "webhook"],
];
const fromBase64 = ({ name, mime, base64 }) => ({ name, mime, data: Buffer.from(base64, "base64") });

let hub;
const streams = new Map();
const workers = new Map();

function handlers(script, released) {
  return {
    echo: (task) => `done: ${task.title}`,
    ask: async (task) => `you said ${await task.ask("Which one?")}`,
    file: async (task) => {
      await task.progress(40, "reading");
      const files = await Promise.all((await task.files()).map((file) => file.read()));
      return new tandem.Reply("read", {
        files: files.map(({ name, mime, bytes }) => ({ name: `re-${name}`, mime, data: bytes })),
      });
    },
    fail: () => {
      throw new RangeError("as the script says");
    },
    hold: async () => {
      await released;
      return "released";
    },
  }[script];
}

async function until(timeout, isDone) {
  for (const deadline = Date.now() + timeout * 1000; !isDone() && Date.now() < deadline; ) await pause(5);
}

const commands = {
  async register({ url, name, profile, encrypted }) {
    hub = await Tandem.register(url, name, { profile, encrypted });
    return { agentId: await hub.agentId(), fingerprint: hub.keyring?.key.publicKey.fingerprint ?? null };
  },
  async open({ profile, url, patience }) {
    hub = await Tandem.fromProfile(profile, { ...(url && { url }), ...(patience !== undefined && { patience }) });
    return { agentId: await hub.agentId() };
  },
  async key() {
    return { key: hub.http.key };
  },
  async rotate() {
    return { key: await hub.rotateKey() };
  },
  async pair({ code }) {
    if (code) return { agentId: (await hub.pair(code)).agentId };
    return { code: (await hub.pair()).code };
  },
  async call({ operation, path = [], query, body }) {
    const name = operation.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
    const [, , shape, kind] = OPERATIONS[name];
    const given = [...path, ...(shape.includes("b") ? [body] : []), ...(shape.includes("q") ? [query] : [])];
    const answer = await hub.calls[name](...given);
    return kind === "list" ? answer.items : kind === "raw" ? answer.text() : answer;
  },
  async send({ to, title, description, files = [], encrypt, options = {} }) {
    const task = await hub.send(to, title, description ?? "", {
      ...options,
      files: files.map(fromBase64),
      encrypt: encrypt === true,
    });
    return { taskId: task.id };
  },
  async view({ task: id }) {
    const { view, trust } = await hub.task(id);
    const { status, title, description, result, progress, encrypted } = view;
    return { status, title, description, result, trust, progress, encrypted };
  },
  async say({ task, text }) {
    return { messageId: await (await hub.task(task)).say(text) };
  },
  async upload({ task, file }) {
    return { messageId: await (await hub.task(task)).upload(fromBase64(file)) };
  },
  async messages({ task }) {
    const messages = await (await hub.task(task)).messages();
    return messages.map(({ view, trust }) => {
      return { id: view.id, from: view.senderAgentId, contentType: view.contentType, text: view.content, trust };
    });
  },
  async files({ task: id }) {
    const task = await hub.task(id);
    const read = async (file) => {
      const { name, mime, bytes } = await file.read();
      const trust = file.trust === "unopened" ? "verified" : file.trust;
      return { name, mime, base64: Buffer.from(bytes).toString("base64"), trust };
    };
    return Promise.all((await task.files()).map(read));
  },
  async status({ task, status, reason }) {
    return { status: (await (await hub.task(task)).setStatus(status, reason)).status };
  },
  async take({ task }) {
    return { status: (await (await hub.task(task)).setStatus("working")).status };
  },
  async reply({ task, text, outcome }) {
    return { status: (await (await hub.task(task)).reply(text, outcome ? { outcome } : {})).status };
  },
  async result({ task, timeout }) {
    const { status, text } = await (await hub.task(task)).result({ timeout });
    return { status, text };
  },
  async follow({ stream: name, after, epoch, transport: wanted }) {
    const collected = { events: [], notices: [], read: 0, failure: null };
    // Node 20 has no WebSocket.
    const transport = wanted === "ws" && !("WebSocket" in globalThis) ? "sse" : wanted;
    const onNotice = ({ kind }) => collected.notices.push(kind);
    collected.stream = hub.events({ after: after ?? null, epoch: epoch ?? null, ...(transport && { transport }), onNotice });
    streams.set(name, collected);
    (async () => {
      for await (const { cursor, type, taskId } of collected.stream) collected.events.push({ cursor, type, taskId });
    })().catch((failure) => {
      collected.failure = failure;
    });
    return {};
  },
  async read({ stream, count, timeout }) {
    const collected = streams.get(stream);
    await until(timeout, () => collected.events.length - collected.read >= count || collected.failure);
    const events = collected.events.slice(collected.read, collected.read + count);
    collected.read += events.length;
    if (events.length === 0 && collected.failure) throw collected.failure;
    return { events, notices: collected.notices };
  },
  async summary({ stream, count, timeout }) {
    const { events } = streams.get(stream);
    await until(timeout, () => events.length >= count);
    let [gaps, doubles] = [0, 0];
    const seen = new Set();
    for (const [at, { cursor }] of events.entries()) {
      if (seen.has(cursor)) doubles += 1;
      else if (at > 0 && cursor !== events[at - 1].cursor + 1) gaps += 1;
      seen.add(cursor);
    }
    return { count: events.length, first: events[0]?.cursor ?? null, last: events.at(-1)?.cursor ?? null, gaps, doubles };
  },
  async unfollow({ stream: name }) {
    const { stream } = streams.get(name);
    streams.delete(name);
    await stream.return();
    return { cursor: stream.cursor, epoch: stream.epoch };
  },
  async work({ worker: name, script, acceptFrom, concurrency }) {
    let release;
    const released = new Promise((done) => {
      release = done;
    });
    const [sessionKey, unlock] = await hub.sessionKey();
    const onError = (failure) => console.error(`${name}: ${failure}`);
    const options = { acceptFrom, concurrency: concurrency ?? 1, onError, ...(sessionKey && { sessionKey }) };
    const [handler, runs] = [handlers(script, released), {}];
    const counted = (task) => {
      runs[task.id] = (runs[task.id] ?? 0) + 1;
      return handler(task);
    };
    const worker = hub.worker(counted, options);
    const run = worker.run().then(
      () => null,
      (failure) => failure,
    );
    workers.set(name, { worker, run, release, unlock, runs });
    return {};
  },
  async release({ worker }) {
    workers.get(worker).release();
    return {};
  },
  async unwork({ worker: name }) {
    const { worker, run, unlock, runs } = workers.get(name);
    worker.stop();
    const failure = await run;
    await unlock();
    if (failure) throw failure;
    return { runs };
  },
  async pin({ agent }) {
    return { fingerprint: (await hub.sealer.keyring().pinned(agent))?.fingerprint ?? null };
  },
  async accept({ agent }) {
    await hub.trust(agent);
    return {};
  },
  async verify({ headers, body, secret, now }) {
    const isValid = await tandem.verify(headers, body, secret, now === undefined ? {} : { now }).then(
      () => true,
      (failure) => {
        if (failure instanceof InvalidWebhook) return false;
        throw failure;
      },
    );
    return { valid: isValid };
  },
};

const answer = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
async function carryOut({ id, do: name, ...fields }) {
  try {
    answer({ id, ok: await commands[name](fields) });
  } catch (failure) {
    const [, kind] = KINDS.find(([type]) => failure instanceof type) ?? [null, "other"];
    const code = failure.code ?? (failure instanceof TaskFailed ? failure.status : null);
    if (kind === "other") console.error(failure);
    answer({ id, error: { kind, code, message: String(failure.message) } });
  }
}

answer({ id: 0, ok: { language: "typescript", can: ["worker", "webhook"] } });
for await (const line of createInterface({ input: process.stdin })) void carryOut(JSON.parse(line));
for (const { worker } of workers.values()) {
  worker.stop();
  worker.stop();
}
await hub?.close();
process.exit(0);
