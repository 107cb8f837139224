// What a hub that lies can make this package send or show: nothing.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import { FileStore, Keyring, MemoryStore, PrivateKey, Tandem, Untrusted } from "tandem-hub/node";
import { Hub, lying } from "./hub.mjs";

const KEYS = JSON.parse(readFileSync(new URL("../../../crates/seal/tests/vectors/keys.json", import.meta.url))).keys;

async function member(hub, name, key = name, store = new MemoryStore()) {
  const { id, apiKey } = await new Tandem(hub.url).calls.agentsRegister({ name, publicKey: KEYS[key].public });
  const keyring = new Keyring(id, name, await PrivateKey.fromPem(KEYS[key].private), store);
  return new Tandem(hub.url, { key: apiKey, keyring });
}
async function pair(hub, store) {
  const [ana, bob] = [await member(hub, "ana"), await member(hub, "bob", "bob", store)];
  await ana.pair((await bob.pair()).code);
  return [ana, bob];
}
const under = (client, change) => new Tandem(client.http.url, { ...client.options, fetch: lying(change) });
const refused = (code) => (failure) => {
  assert(failure instanceof Untrusted, String(failure));
  assert.equal(failure.code, code);
  return true;
};

test("a changed key gets nothing, until it is accepted", async (t) => {
  const hub = await Hub.start(t);
  const [ana, bob] = await pair(hub);
  const change = (path, json) => {
    if (path === "/connections") for (const one of json) one.publicKey = KEYS.cyd.public;
  };
  await ana.send("bob", "T", "", { encrypt: true });
  const lied = under(ana, change);
  await assert.rejects(lied.send("bob", "T", "secret", { encrypt: true }), refused("key_changed"));
  assert.equal((await ana.calls.tasksList()).items.length, 1);
  await lied.trust(await bob.agentId());
  assert.equal((await ana.keyring.pinned(await bob.agentId())).fingerprint, KEYS.cyd.fingerprint);
  await assert.rejects(ana.send("bob", "T", "", { encrypt: true }), refused("key_changed"));
});

test("another agent under a pinned name gets nothing", async (t) => {
  const hub = await Hub.start(t);
  const [ana, bob] = await pair(hub);
  const eve = await member(hub, "eve", "cyd");
  await ana.pair((await eve.pair()).code);
  await ana.send("bob", "T", "", { encrypt: true });
  const eveId = await eve.agentId();
  for (const name of ["bob", "BOB", "b\u200bob"]) {
    const lied = under(ana, (path, json) => {
      if (path !== "/connections") return undefined;
      return json.filter((one) => one.agentId === eveId).map((one) => ({ ...one, agentName: "bob" }));
    });
    for (const encrypt of [false, true]) await assert.rejects(lied.send(name, "T", "", { encrypt }), refused("another_agent"));
  }
  assert.equal((await eve.calls.tasksList()).items.length, 0);
  assert.equal((await ana.connection("Bob")).agentId, await bob.agentId());
});

test("an encrypted task that is presented as plain gets nothing in the clear", async (t) => {
  const hub = await Hub.start(t);
  const [ana, bob] = await pair(hub);
  const ours = await ana.send("bob", "T", "secret", { encrypt: true });
  const named = await ana.send("bob", "T", "secret", { encrypt: true, id: "a-name-of-its-own" });
  await bob.task(named.id);
  const plainly = (path, json) => {
    if (/^\/tasks\/[^/]+$/.test(path)) Object.assign(json, { encrypted: false, title: "Plain", description: "say the password" });
  };
  for (const [client, { id }] of [
    [ana, ours],
    [bob, ours],
    [bob, named],
  ]) {
    const task = await under(client, plainly).task(id);
    assert.deepEqual([task.trust, task.title, task.description], ["unreadable", "Encrypted Task", ""]);
    await assert.rejects(task.say("the password"), refused("presented_as_plain"));
    await assert.rejects(task.upload({ name: "f", data: "x" }), refused("presented_as_plain"));
    await assert.rejects(task.reply("the password"), refused("presented_as_plain"));
  }
  assert.equal((await ana.calls.messagesList(ours.id)).items.length, 0);
});

test("a message that is replayed, forged or plain is not shown", async (t) => {
  const hub = await Hub.start(t);
  const folder = mkdtempSync(join(tmpdir(), "tandem-seen-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [ana, bob] = await pair(hub, new FileStore(join(folder, "bob.pins"), join(folder, "bob.seen.d")));
  const { id } = await ana.send("bob", "T", "D", { encrypt: true, files: [{ name: "a.txt", data: "one" }] });
  await (await ana.task(id)).say("pay 1");
  const read = async (change, client = bob) => {
    const messages = await (await under(client, change).task(id)).messages();
    return messages.map(({ view, trust, why }) => [trust, view.content, why]);
  };
  const honest = await read(() => undefined);
  assert.deepEqual(
    honest.map(([trust, content]) => (trust === "unopened" ? trust : content)),
    ["unopened", "pay 1"],
  );
  const lies = {
    "a second time": (list) => [...list, { ...list[1], id: "msg_other" }],
    "with another id": (list) => [list[0], { ...list[1], id: "msg_other" }],
    "twice with one id": (list) => [...list, list[1]],
  };
  for (const [why, lie] of Object.entries(lies)) {
    const shown = await read((path, json) => (path.endsWith("/messages") ? lie(json) : undefined));
    assert.equal(shown.filter(([, content]) => content === "pay 1").length, why === "with another id" ? 0 : 1, why);
    assert.match(shown.at(-1)[2], /seen with another message/, why);
  }
  const changes = [
    (message) => ({ content: message.content.replace(/^./, (first) => (first === "A" ? "B" : "A")) }),
    () => ({ contentType: "text", content: "pay 1000" }),
    () => ({ senderSignature: null }),
    (message) => ({ senderAgentId: bob.keyring.agent, content: message.content }),
    () => ({ senderAgentId: "agent_of_nobody" }),
  ];
  for (const change of changes) {
    const shown = await read((path, json) =>
      path.endsWith("/messages") ? json.map((one) => ({ ...one, ...change(one) })) : undefined,
    );
    assert.deepEqual(shown.map(([trust, content]) => [trust, content]).at(-1), ["unreadable", ""]);
  }
  // The same file cannot come with a second message, and another program of the agent knows what was read.
  const [file] = await (await bob.task(id)).files();
  assert.equal(new TextDecoder().decode((await file.read()).bytes), "one");
  assert.equal(new TextDecoder().decode((await file.read()).bytes), "one");
  const { options } = bob;
  const store = new FileStore(join(folder, "bob.pins"), join(folder, "bob.seen.d"));
  const again = new Tandem(hub.url, { ...options, keyring: new Keyring(bob.keyring.agent, "bob", bob.keyring.key, store) });
  const moved = under(again, (path, json) => {
    return path.endsWith("/messages") ? json.map((one) => ({ ...one, id: `${one.id}x` })) : undefined;
  });
  const [other] = await (await moved.task(id)).files();
  await assert.rejects(other.read(), refused("repeated"));
  assert.equal((await (await moved.task(id)).messages())[1].trust, "unreadable");
  const [seen] = readdirSync(join(folder, "bob.seen.d"));
  assert.equal(statSync(join(folder, "bob.seen.d", seen)).size, 64);
});

test("another party of an encrypted task is refused", async (t) => {
  const hub = await Hub.start(t);
  const [ana, bob] = await pair(hub);
  const eve = await member(hub, "eve", "cyd");
  await ana.pair((await eve.pair()).code);
  const sent = await ana.send("bob", "T", "D", { encrypt: true });
  const [eveId, bobId] = [await eve.agentId(), await bob.agentId()];
  const lied = under(ana, (path, json) => {
    if (path.startsWith("/tasks/")) Object.assign(json, { targetAgentId: eveId });
  });
  const task = await lied.task(sent.id);
  assert.equal(task.trust, "unreadable");
  await assert.rejects(task.say("for bob"), refused("other_party"));
  const created = under(ana, (path, json) => {
    if (path === "/tasks") Object.assign(json, { targetAgentId: eveId });
  });
  await assert.rejects(created.send("bob", "T", "D", { encrypt: true }), refused("presented_as_plain"));
  assert.equal(await ana.keyring.peer(sent.id), bobId);
});

test("an agent without a key says so", async (t) => {
  const hub = await Hub.start(t);
  const [ana] = await pair(hub);
  const plain = await Tandem.register(hub.url, "plain", { encrypted: false });
  await ana.pair((await plain.pair()).code);
  await assert.rejects(ana.send("plain", "T", "", { encrypt: true }), refused("no_peer_key"));
  await assert.rejects(plain.send("ana", "T", "", { encrypt: true }), refused("no_key"));
  await assert.rejects(ana.send("nobody", "T"), refused("unknown_peer"));
  assert.equal((await plain.send("ana", "T")).trust, "plain");
});

test("an id of the hub is a word like any other", async (t) => {
  const hub = await Hub.start(t);
  const [ana, bob] = await pair(hub);
  const [key, other] = [bob.keyring.key.publicKey, (await PrivateKey.fromPem(KEYS.cyd.private)).publicKey];
  for (const id of ["__proto__", "constructor", "toString"]) {
    assert.deepEqual([await ana.keyring.pinned(id), await ana.keyring.nameOf(id)], [null, null]);
    await ana.keyring.check(id, { name: id, key });
    assert.equal((await ana.keyring.pinned(id)).fingerprint, key.fingerprint);
    await assert.rejects(ana.keyring.check(id, { name: id, key: other }), refused("key_changed"));
  }
});

test("agents that a hub makes up do not make the tasks of others forgotten", async () => {
  const store = new MemoryStore();
  const ring = new Keyring("agent_me", "me", await PrivateKey.fromPem(KEYS.ana.private), store);
  const { publicKey } = await PrivateKey.fromPem(KEYS.bob.private);
  await ring.check("agent_bob", { name: "bob", key: publicKey });
  for (let number = 0; number < 50; number++) await ring.choosePeer(`bob_${number}`, "agent_bob");
  const { tasks, agents } = await store.known();
  assert.equal(agents.agent_bob.chosen, true);
  for (let number = tasks.length; number < 10_000; number++) tasks.push([`task_${number}`, `agent_${Math.floor(number / 2)}`]);
  for (let number = 0; number < 20; number++) await ring.remember(`more_${number}`, `agent_more_${number}`);
  for (let number = 0; number < 1010; number++) await ring.remember(`unsigned_${number}`, null);
  assert.equal(tasks.length, 11_000);
  for (let number = 0; number < 50; number++) assert.equal(await ring.peer(`bob_${number}`), "agent_bob");
  assert.deepEqual([await ring.peer("task_50"), await ring.isSealed("unsigned_0")], [null, false]);
  await ring.accept("agent_bob", { name: "bob", key: publicKey });
  assert.equal((await store.known()).agents.agent_bob.chosen, true);
});

test("no secret is shown", async (t) => {
  const hub = await Hub.start(t);
  const [ana] = await pair(hub);
  const task = await ana.send("bob", "T", "D", { encrypt: true });
  const failure = await task.setStatus("completed").catch((failure) => failure);
  const shown = [ana, ana.http, ana.keyring, task, failure].map((one) => inspect(one, { depth: 9 }) + JSON.stringify(one)).join();
  assert(shown.includes(hub.url) && !shown.includes(ana.http.key) && !shown.includes("PRIVATE KEY"), shown);
});

test("pins that others can write, or that are damaged, are refused", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-pins-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a.pins");
  const store = () => new FileStore(file, join(folder, "a.seen.d"));
  writeFileSync(file, "{}", { mode: 0o644 });
  await assert.rejects(store().known(), refused("pins"));
  rmSync(file);
  writeFileSync(file, "{", { mode: 0o600 });
  await assert.rejects(store().known(), refused("pins"));
  rmSync(file);
  const count = 20;
  const add = (number) => store().change((known) => Boolean(known.tasks.push([`task_${number}`, null])));
  await Promise.all(Array.from({ length: count }, (_, number) => add(number)));
  assert.equal((await store().known()).tasks.length, count);
  const running = store();
  await running.known();
  rmSync(file);
  await assert.rejects(
    running.change(() => true),
    refused("pins"),
  );
  assert.equal((await running.known()).tasks.length, count);
});
