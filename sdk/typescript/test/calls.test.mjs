import assert from "node:assert/strict";
import { test } from "node:test";
import * as tandem from "tandem-hub";
import { fakeHub, refusal } from "./fake.mjs";

const { Tandem } = tandem;
const KEY = "tdm_test";

test("a POST whose answer is lost is sent again with the same idempotency key", async (t) => {
  const hub = await fakeHub(t, ({ number }) => (number <= 2 ? null : { status: 201, json: { id: "task_1" } }));
  const { calls } = new Tandem(hub.url, { key: KEY });
  assert.equal((await calls.tasksCreate({ targetAgentId: "agent_b", title: "T" })).id, "task_1");
  assert.equal(hub.asked.length, 3);
  const keys = new Set(hub.asked.map(({ headers }) => headers["idempotency-key"]));
  assert.match([...keys].join(), /^[0-9a-f]{32}$/);
  assert.equal(hub.asked[2].headers.authorization, `Bearer ${KEY}`);
  assert.equal(hub.asked[2].headers["user-agent"], "tandem-typescript/0.1.0");
  await calls.tasksCancel("task/1", {}, { idempotencyKey: "mine" });
  assert.deepEqual([hub.asked[3].path, hub.asked[3].headers["idempotency-key"]], ["/tasks/task%2F1/cancel", "mine"]);
});

test("a PATCH or DELETE whose answer is lost is not sent again", async (t) => {
  const hub = await fakeHub(t, () => null);
  const { calls } = new Tandem(hub.url, { key: KEY });
  for (const call of [() => calls.tasksChange("task_1", { status: "working" }), () => calls.tasksDelete("task_1")]) {
    const before = hub.asked.length;
    const failure = await call().catch((failure) => failure);
    assert(failure instanceof tandem.AnswerLost && failure.mayHaveTakenEffect);
    assert.equal(hub.asked.length, before + 1);
  }
});

test("what passes is waited for, as long as the hub says and patience lasts", async (t) => {
  const hub = await fakeHub(t, ({ path, number }) => {
    if (path === "/health") return refusal(429, "rate_limited", { "retry-after": "99" });
    return number === 1 ? refusal(429, "rate_limited", { "retry-after": "1" }) : { json: { id: "agent_1" } };
  });
  const { calls } = new Tandem(hub.url, { key: KEY, patience: 5 });
  const begun = Date.now();
  assert.equal((await calls.agentsProfile()).id, "agent_1");
  assert(Date.now() - begun >= 1000);
  const failure = await calls.hubHealth().catch((failure) => failure);
  assert(failure instanceof tandem.RateLimited);
  assert.deepEqual([failure.code, failure.status, failure.retryAfter], ["rate_limited", 429, 99]);
  assert.equal(hub.asked.length, 3);
});

test("a busy hub is asked again, except for what cannot be repeated", async (t) => {
  const hub = await fakeHub(t, ({ number }) => (number % 2 === 1 ? refusal(503, "unavailable") : { json: { status: "ok" } }));
  const { calls } = new Tandem(hub.url, { key: KEY });
  assert.equal((await calls.hubHealth()).status, "ok");
  const failure = await calls.tasksChange("task_1", { status: "working" }).catch((failure) => failure);
  assert(failure instanceof tandem.Unavailable && failure.mayHaveTakenEffect);
  assert.equal(hub.asked.length, 3);
});

test("a refusal has the class of its code, and what the hub says about the task", async (t) => {
  const json = { error: "The task has ended", code: "task_terminal", status: "failed", nextStatuses: [] };
  const hub = await fakeHub(t, ({ number }) => ({
    status: 409,
    json: number === 1 ? json : { error: "new", code: "of_a_newer_hub" },
    headers: { "x-request-id": "req_1" },
  }));
  const { calls } = new Tandem(hub.url, { key: KEY });
  const failure = await calls.tasksCancel("task_1").catch((failure) => failure);
  assert(failure instanceof tandem.TaskTerminal && failure instanceof tandem.Refused && failure instanceof tandem.TandemError);
  assert.deepEqual([failure.name, failure.message, failure.taskStatus], ["TaskTerminal", "The task has ended", "failed"]);
  assert.deepEqual([failure.nextStatuses, failure.requestId], [[], "req_1"]);
  const newer = await calls.tasksCancel("task_1").catch((failure) => failure);
  assert.deepEqual([newer.constructor, newer.code], [tandem.Refused, "of_a_newer_hub"]);
});

test("a key that was replaced is read again, once", async (t) => {
  const hub = await fakeHub(t, ({ headers }) =>
    headers.authorization === "Bearer new" ? { json: { id: "agent_1" } } : refusal(401, "unauthorized"),
  );
  let asked = 0;
  const keySource = async () => {
    asked += 1;
    return "new";
  };
  assert.equal((await new Tandem(hub.url, { key: "old", keySource }).calls.agentsProfile()).id, "agent_1");
  const stuck = new Tandem(hub.url, { key: "old", keySource: async () => "older" });
  await assert.rejects(stuck.calls.agentsProfile(), tandem.Unauthorized);
  assert.deepEqual([asked, hub.asked.length], [1, 4]);
});

test("a hub that was never reached is not waited for, one that was is", async (t) => {
  const hub = await fakeHub(t, () => ({ json: { status: "ok" } }));
  const { port } = hub.server.address();
  const { calls } = new Tandem(hub.url);
  await calls.hubHealth();
  hub.server.closeAllConnections();
  await new Promise((done) => hub.server.close(done));
  let sent = 0;
  const counted = (...call) => {
    sent += 1;
    return fetch(...call);
  };
  await assert.rejects(new Tandem(hub.url, { fetch: counted }).calls.hubHealth(), tandem.Unreachable);
  assert.equal(sent, 1);
  const waiting = calls.hubHealth();
  hub.server.listen(port, "127.0.0.1");
  assert.equal((await waiting).status, "ok");
});

test("the key goes to the hub alone", async (t) => {
  const thief = await fakeHub(t, () => ({ json: {} }));
  const hub = await fakeHub(t, () => ({ status: 302, headers: { location: thief.url } }));
  await assert.rejects(new Tandem(hub.url, { key: KEY }).calls.agentsProfile(), tandem.NotAHub);
  assert.equal(thief.asked.length, 0);
  for (const wrong of ["ftp://hub", "https://me:secret@hub", "https://hub?x=1", "", "https://hub:99999"]) {
    assert.throws(
      () => new Tandem(wrong),
      (failure) => failure instanceof TypeError && !failure.message.includes("secret"),
    );
  }
  const urls = ["127.0.0.1:3000", "localhost/tandem/", "hub.example.com", "HTTPS://Hub.example.com:443/x"];
  const spelt = urls.map((url) => new Tandem(url).http.url);
  assert.deepEqual(spelt, [
    "http://127.0.0.1:3000",
    "http://localhost/tandem",
    "https://hub.example.com",
    "https://hub.example.com/x",
  ]);
});

test("lists come in pages, and one without an end is refused", async (t) => {
  const next = (cursor) => ({ link: `</tasks?limit=2&cursor=${cursor}>; rel="next"` });
  const hub = await fakeHub(t, ({ path }) => {
    if (path.includes("cursor=b")) return { json: [{ id: "c" }], headers: path.includes("role") ? next("b") : {} };
    return { json: [{ id: "a" }], headers: next("b") };
  });
  const { calls } = new Tandem(hub.url, { key: KEY });
  const all = [];
  for await (const page of tandem.everyPage((query) => calls.tasksList(query), 2)) all.push(...page.map(({ id }) => id));
  assert.deepEqual(all, ["a", "c"]);
  const endless = async () => {
    for await (const _ of tandem.everyPage((query) => calls.tasksList({ ...query, role: "target" })));
  };
  await assert.rejects(endless, tandem.NotAHub);
});

test("an answer without an end is given up", async () => {
  const part = new Uint8Array(16 * 1024 * 1024);
  let sent = 0;
  const pull = (controller) => {
    sent += 1;
    controller.enqueue(part);
  };
  const endless = async () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
  await assert.rejects(new Tandem("https://hub.example.com", { fetch: endless }).calls.hubHealth(), tandem.NotAHub);
  assert.equal(sent, 17);
});

test("a registration whose answer is lost is settled by its key", async (t) => {
  const hub = await fakeHub(t, ({ method, path, headers }) => {
    if (path === "/agents/challenge") return { json: { challenge: "c", difficulty: 0, algorithm: "SHA-256" } };
    if (method === "POST") return refusal(409, "key_taken");
    return headers.authorization?.startsWith("Bearer tdm_")
      ? { json: { id: "agent_9", name: "ada" } }
      : refusal(401, "unauthorized");
  });
  const made = await Tandem.register(hub.url, "ada", { encrypted: false, description: "Reads" });
  assert.match(made.http.key, /^tdm_[A-Za-z0-9_-]{43}$/);
  const { name, description, apiKeyHash } = JSON.parse(hub.asked[1].body);
  assert.deepEqual([name, description], ["ada", "Reads"]);
  assert.match(apiKeyHash, /^[0-9a-f]{64}$/);
});

test("a proof of work is solved", async (t) => {
  const hub = await fakeHub(t, ({ method }) =>
    method === "POST" ? { json: { id: "a" } } : { json: { challenge: "c", difficulty: 8, algorithm: "SHA-256" } },
  );
  await Tandem.register(hub.url, "ada", { encrypted: false });
  const { challenge, solution } = JSON.parse(hub.asked[1].body);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(challenge + solution)));
  assert.deepEqual([challenge, hash[0]], ["c", 0]);
});
