// The life of tasks on a real hub: workers, crashes, lost answers, the profiles of the command line.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import * as tandem from "tandem-hub/node";
import { eventually, Hub, losing, PATIENCE } from "./hub.mjs";

const { agent, Reply, Tandem } = tandem;
const newKey = () => `tdm_${randomBytes(32).toString("base64url")}`;
const NAME = 'Ada\'s "coder" \\ ✓';

const KEYS = JSON.parse(await readFile(new URL("../../vectors/keys.json", import.meta.url)));

/** Leaves the files of a registration that was cut off before the hub was asked. */
async function begin(hub, name, pem) {
  const folder = join(hub.env.XDG_CONFIG_HOME, "tandem/agents");
  const pending = { apiKey: newKey(), idempotencyKey: name, encrypted: pem !== null, request: { name } };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, `${name}.pending`), JSON.stringify({ hub: hub.url, ...pending }), { mode: 0o600 });
  if (pem !== null) await writeFile(join(folder, `${name}.pem`), pem, { mode: 0o600 });
  return pending.apiKey;
}
/** Two agents with profiles. Their keys are ready: making one takes seconds. */
async function pair(hub, encrypted = false) {
  const agents = [];
  for (const [name, { private: pem }] of [
    ["ada", KEYS.ana],
    ["bob", KEYS.bob],
  ]) {
    await begin(hub, name, encrypted ? pem : null);
    agents.push(await Tandem.register(hub.url, name, { profile: name, encrypted }));
  }
  const [ada, bob] = agents;
  await bob.pair((await ada.pair()).code);
  return [ada, bob];
}

test("tasks, questions and files, plain and encrypted", async (t) => {
  const hub = await Hub.start(t);
  const [ada, bob] = await pair(hub, true);
  const seen = [];
  const worker = agent("bob", { acceptFrom: ["ada"], concurrency: 3 }, async (task) => {
    seen.push([task.title, task.description, task.trust]);
    await task.progress(40, "reading");
    const files = await Promise.all((await task.files()).map((file) => file.read()));
    const answer = await task.ask("Which one?");
    return new Reply(`the ${answer}`, {
      files: files.map(({ name, mime, bytes }) => ({ name: `re-${name}`, mime, data: bytes })),
    });
  });
  const working = worker.run();
  for (const encrypt of [false, true]) {
    const files = [{ name: "a ✓.csv", data: "1,2" }, join(import.meta.dirname, "fake.mjs")];
    const task = await ada.send("bob", "Review ✓", "Both", { encrypt, files, priority: "high" });
    assert.deepEqual([task.title, task.description, task.status], ["Review ✓", "Both", "submitted"]);
    assert.equal(task.raw.title, encrypt ? "Encrypted Task" : "Review ✓");
    await assert.rejects(task.result({ timeout: PATIENCE }), (failure) => {
      return failure instanceof tandem.InputRequired && failure.question === "Which one?";
    });
    const result = await task.result({ timeout: PATIENCE, onQuestion: (question) => `second (${question})` });
    assert.deepEqual([result.text, result.status], ["the second (Which one?)", "completed"]);
    assert.equal(result.task.trust, encrypt ? "verified" : "plain");
    const [csv, script] = await Promise.all(result.files.map((file) => file.read()));
    assert.deepEqual([csv.name, csv.mime, new TextDecoder().decode(csv.bytes)], ["re-a ✓.csv", "text/csv", "1,2"]);
    assert.deepEqual(Buffer.from(script.bytes), await readFile(files[1]));
    assert.deepEqual(seen.at(-1), ["Review ✓", "Both", result.task.trust]);
    assert.equal((await task.refresh()).view.progress, 40);
  }
  worker.stop();
  await working;
  await Promise.all([ada.close(), bob.close()]);
});

test("a handler that throws fails its task, without its words", async (t) => {
  const hub = await Hub.start(t);
  const [ada, bob] = await pair(hub);
  const failures = [];
  const onError = (failure) => failures.push(failure.message);
  const worker = bob.worker(
    () => {
      throw new RangeError("the password is 1234");
    },
    { acceptFrom: ["*"], onError },
  );
  const working = worker.run();
  const task = await ada.send("bob", "T");
  const failure = await task.result({ timeout: PATIENCE }).catch((failure) => failure);
  assert(failure instanceof tandem.TaskFailed && failure.status === "failed");
  assert(!(await task.messages()).some(({ view }) => view.content.includes("1234")));
  assert.deepEqual(failures, ["the password is 1234"]);
  worker.stop();
  await working;
  await Promise.all([ada.close(), bob.close()]);
});

test("a result that the hub refuses fails the task", async (t) => {
  const hub = await Hub.start(t);
  const [ada, bob] = await pair(hub);
  const failures = [];
  const reply = new Reply("with a program", { files: [{ name: "a.bin", data: new Uint8Array([255, 0]) }] });
  const worker = bob.worker(() => reply, { acceptFrom: ["*"], onError: ({ code }) => failures.push(code) });
  const working = worker.run();
  const task = await ada.send("bob", "T");
  await assert.rejects(task.result({ timeout: PATIENCE }), { status: "failed" });
  assert.match((await task.refresh()).view.result, /unsupported_media_type/);
  assert.deepEqual(failures, ["unsupported_media_type"]);
  worker.stop();
  await working;
  await Promise.all([ada.close(), bob.close()]);
});

test("a registration that is cut off is finished, and one that is refused leaves nothing", async (t) => {
  const hub = await Hub.start(t);
  const folder = join(hub.env.XDG_CONFIG_HOME, "tandem/agents");
  const key = await begin(hub, "ada", null);
  await assert.rejects(Tandem.register(hub.url, "other", { profile: "ada", encrypted: false }), tandem.ProfileError);
  const ada = await Tandem.register(hub.url, "ada", { profile: "ada", encrypted: false });
  assert.equal(ada.http.key, key);
  await assert.rejects(Tandem.register(hub.url, "", { profile: "bob" }), tandem.Validation);
  await assert.rejects(Tandem.register(hub.url, "bob", { profile: "../bob" }), tandem.ProfileError);
  assert.deepEqual((await readdir(folder)).sort(), ["ada.lock", "ada.toml", "bob.lock"]);
});

test("a worker takes what it accepts, so many at once, and finishes what it has begun", async (t) => {
  const hub = await Hub.start(t);
  const [ada, bob] = await pair(hub);
  const eve = await Tandem.register(hub.url, "eve", { encrypted: false });
  await bob.pair((await eve.pair()).code);
  const [foreign, ...own] = [await eve.send("bob", "not for you")];
  for (let number = 0; number < 5; number++) own.push(await ada.send("bob", `task ${number}`));
  let [running, most, release] = [0, 0, () => {}];
  const released = new Promise((done) => {
    release = done;
  });
  const handler = async (task) => {
    running += 1;
    most = Math.max(most, running);
    await released;
    running -= 1;
    return task.title;
  };
  const worker = bob.worker(handler, { acceptFrom: ["ada"], concurrency: 2 });
  const working = worker.run();
  await eventually(() => running === 2);
  worker.stop();
  release();
  await working;
  const statuses = async () => Promise.all(own.map(async (task) => (await task.refresh()).status));
  assert.deepEqual(await statuses(), ["completed", "completed", "submitted", "submitted", "submitted"]);
  const next = bob.worker(handler, { acceptFrom: [await ada.agentId()], concurrency: 2 });
  const again = next.run();
  await eventually(async () => (await statuses()).every((status) => status === "completed"));
  next.stop();
  await again;
  assert.equal(most, 2);
  assert.equal((await foreign.refresh()).status, "submitted");
  await Promise.all([ada.close(), bob.close(), eve.close()]);
});

test("a worker that is started again goes on, and asks nothing twice", async (t) => {
  const hub = await Hub.start(t);
  const [ada, bob] = await pair(hub, true);
  const handler = async (task) => `${await task.ask("One?")} ${await task.ask("Two?")}`;
  const options = { acceptFrom: ["ada"], sessionKey: "the same" };
  const task = await ada.send("bob", "T", "", { encrypt: true });
  const said = async (content) => (await task.messages()).filter(({ view }) => view.content === content).length;
  const first = bob.worker(handler, options);
  const working = first.run();
  await eventually(() => said("One?"));
  await task.say("1");
  await eventually(() => said("Two?"));
  first.stop();
  first.stop();
  await working;
  const taken = [];
  const other = bob.worker(({ id }) => void taken.push(id), { ...options, sessionKey: "another" });
  const idle = other.run();
  await task.say("2");
  const second = bob.worker(handler, options);
  const resumed = second.run();
  assert.equal((await task.result({ timeout: PATIENCE, onQuestion: () => "not asked" })).text, "1 2");
  assert.deepEqual([await said("One?"), await said("Two?"), taken], [1, 1, []]);
  for (const worker of [other, second]) worker.stop();
  await Promise.all([idle, resumed]);
  await Promise.all([ada.close(), bob.close()]);
});

test("a hub that is killed costs no result, and makes no second one", async (t) => {
  const hub = await Hub.start(t);
  const [ada, bob] = await pair(hub);
  let [release, begun] = [() => {}, 0];
  const released = new Promise((done) => {
    release = done;
  });
  const handler = async (task) => {
    begun += 1;
    await released;
    return `done: ${task.title}`;
  };
  const worker = bob.worker(handler, { acceptFrom: ["ada"], concurrency: 4 });
  const working = worker.run();
  const tasks = [await ada.send("bob", "1"), await ada.send("bob", "2")];
  const results = tasks.map((task) => task.result({ timeout: PATIENCE }));
  await eventually(() => begun === 2);
  await hub.kill();
  release();
  await hub.run();
  assert.deepEqual(
    (await Promise.all(results)).map(({ text }) => text),
    ["done: 1", "done: 2"],
  );
  for (const task of tasks) assert.equal((await task.messages()).length, 1);
  assert.equal(begun, 2);
  worker.stop();
  await working;
  await Promise.all([ada.close(), bob.close()]);
});

test("a cancelled task stops its handler", async (t) => {
  const hub = await Hub.start(t);
  const [ada, bob] = await pair(hub);
  const task = await ada.send("bob", "T", "", { leaseSeconds: 10 });
  let isStopped = false;
  const worker = bob.worker(
    async (task) => {
      await new Promise((done) => task.signal.addEventListener("abort", done));
      isStopped = true;
      return "too late";
    },
    { acceptFrom: ["ada"] },
  );
  const working = worker.run();
  await eventually(async () => (await task.refresh()).status === "working");
  await task.cancel("not needed");
  await eventually(() => isStopped);
  worker.stop();
  await working;
  assert.deepEqual([(await task.refresh()).view.result, (await task.messages()).length], [null, 0]);
  await Promise.all([ada.close(), bob.close()]);
});

test("a lost answer at any writing call changes nothing", async (t) => {
  const hub = await Hub.start(t);
  const [ada, bob] = await pair(hub, true);
  const lost = new Set();
  const isLost = ({ method, body }, path) => {
    const call = `${method} ${path} ${body}`;
    if (method === "GET" || lost.has(call)) return false;
    lost.add(call);
    return true;
  };
  const [unluckyAda, unluckyBob] = [ada, bob].map(({ options }) => new Tandem(hub.url, { ...options, fetch: losing(isLost) }));
  const working = [];
  for (const encrypt of [false, true]) {
    const worker = unluckyBob.worker(async (task) => new Reply(await task.ask("?"), { files: [{ name: "f.txt", data: "x" }] }), {
      acceptFrom: ["*"],
    });
    working.push(worker.run());
    const task = await unluckyAda.send("bob", "T", "D", { encrypt, files: [{ name: "in.txt", data: "y" }] });
    const result = await task.result({ timeout: PATIENCE, onQuestion: () => "yes" });
    assert.equal(result.text, "yes");
    const thread = (await task.messages()).map(({ view }) => [
      view.kind,
      view.contentType,
      view.contentType === "file" ? "" : view.content,
    ]);
    const file = ["message", "file", ""];
    assert.deepEqual(thread, [file, ["message", "text", "?"], ["message", "text", "yes"], file, ["reply", "text", "yes"]]);
    worker.stop();
  }
  await Promise.all(working);
  const old = unluckyAda.http.key;
  assert.notEqual(await unluckyAda.rotateKey(), old);
  assert.equal((await unluckyAda.calls.agentsProfile()).name, "ada");
  assert(lost.size >= 20, [...lost].join("\n"));
  await Promise.all([unluckyAda.close(), unluckyBob.close()]);
});

test("profiles are those of the command line", async (t) => {
  const hub = await Hub.start(t);
  await hub.tandem("register", NAME, "--hub", hub.url, "--as", "ada");
  const ada = await Tandem.fromProfile();
  const bob = await Tandem.register(hub.url, "bob", { profile: "bob" });
  await assert.rejects(Tandem.register(hub.url, "bob", { profile: "bob" }), tandem.ProfileError);
  assert.match(await hub.tandem("whoami", "--agent", "bob"), /bob/);
  const fingerprint = JSON.parse(await hub.tandem("whoami", "--agent", "ada", "--json")).fingerprint;
  assert.equal(ada.keyring.key.publicKey.fingerprint, fingerprint);
  await ada.pair((await bob.pair()).code);

  // What one seals, the other opens, with the same pins and the same record of what was read.
  const sent = JSON.parse(
    await hub.tandem("send", "bob", "From the shell", "--text", "hello", "--encrypt", "--agent", "ada", "--json"),
  );
  const task = await bob.task(sent.id);
  assert.deepEqual([task.title, task.description, task.trust], ["From the shell", "hello", "verified"]);
  await task.setStatus("working");
  await task.reply("from TypeScript", { files: [{ name: "r.txt", data: "file" }] });
  const shown = JSON.parse(await hub.tandem("task", "show", sent.id, "--agent", "ada", "--json"));
  assert.equal(JSON.stringify(shown).includes("from TypeScript"), true);
  assert.equal((await (await ada.task(sent.id)).result({ timeout: PATIENCE })).text, "from TypeScript");

  // A key that the command line replaces is found in the profile, by calls and by streams.
  const stream = ada.events();
  const waiting = stream.next();
  await hub.tandem("rotate", "--agent", "ada");
  assert.equal((await ada.calls.agentsProfile()).name, NAME);
  await bob.send(await ada.agentId(), "T");
  assert.equal((await waiting).value.type, "task.created");
  await stream.return();
  await ada.rotateKey();
  assert.match(await hub.tandem("task", "list", "--agent", "ada"), /Encrypted Task/);
  for (const suffix of ["toml", "pem", "pins"]) {
    const { mode } = await stat(join(hub.env.XDG_CONFIG_HOME, "tandem/agents", `ada.${suffix}`));
    assert.equal(mode & 0o777, 0o600);
  }
  await Promise.all([ada.close(), bob.close()]);
});
