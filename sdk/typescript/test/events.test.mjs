// The event stream against a hub that breaks, repeats, is restored and refuses. Node 20 has no WebSocket; a newer Node runs
// these tests with one too.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as tandem from "tandem-hub";
import { fakeHub, refusal } from "./fake.mjs";

const at = (cursor) => `2026-01-01T00:00:00.${String(cursor).padStart(3, "0")}Z`;
const data = (cursor) => ({ type: "task.created", taskId: `task_${cursor}`, fromAgentId: "agent_a", attempt: 1 });
const frame = (cursor) => JSON.stringify({ ...data(cursor), cursor, createdAt: at(cursor) });
const greeting = (cursor, epoch = "e1") => JSON.stringify({ type: "connected", agentId: "agent_b", cursor, epoch });
const page = (cursors, cursor, epoch = "e1") => {
  const events = cursors.map((id) => ({ id, ...data(id), data: data(id), createdAt: at(id) }));
  return { json: { events, cursor: cursors.at(-1) ?? cursor, hasMore: false, epoch } };
};
const sse = (response, ...frames) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const text of frames) response.write(`id: 1\ndata: ${text}\n\n`);
};
const open = (hub, options) => {
  const notices = [];
  const client = new tandem.Tandem(hub.url, { key: "tdm_test" });
  const stream = client.events({ ...options, onNotice: (notice) => notices.push(notice) });
  return { stream, notices, client };
};
async function take(stream, count) {
  const cursors = [];
  while (cursors.length < count) cursors.push((await stream.next()).value.cursor);
  return cursors;
}

test("a stream that breaks goes on, each event once", async (t) => {
  let streams = 0;
  const hub = await fakeHub(t, ({ path, response }) => {
    if (path === "/events?after=7") return page([], 7);
    streams += 1;
    if (streams === 1) {
      sse(response, greeting(5), frame(6), frame(6), frame(7));
      return void response.end();
    }
    if (streams === 2) return null;
    assert.equal(path, "/events/stream?after=7&epoch=e1");
    sse(response, greeting(7), frame(7), frame(9));
  });
  const { stream, notices } = open(hub, { after: 5, epoch: "e1", transport: "sse" });
  const first = (await stream.next()).value;
  // As an older hub says it: the fields once.
  assert.deepEqual(first, { ...data(6), id: 6, cursor: 6, createdAt: at(6), data: data(6) });
  assert.deepEqual(await take(stream, 2), [7, 9]);
  assert.deepEqual([stream.cursor, stream.epoch], [9, "e1"]);
  const kinds = notices.map(({ kind }) => kind);
  assert.deepEqual([kinds[0], kinds.at(-1), kinds.includes("rewound")], ["connected", "connected", false]);
  await stream.return();
  assert.equal((await stream.next()).done, true);
});

test("frames come in any pieces", async (t) => {
  const hub = await fakeHub(t, async ({ response }) => {
    sse(response);
    const bytes = Buffer.from(`: hello\n\ndata: ${greeting(0)}\n\nid: 1\ndata: ${frame(1).replace("agent_a", "agent_é")}\n\n`);
    for (const byte of bytes) await new Promise((done) => response.write(Buffer.from([byte]), done));
  });
  const { stream } = open(hub, { after: 0, transport: "sse" });
  assert.equal((await stream.next()).value.fromAgentId, "agent_é");
  await stream.return();
});

test("a restored hub is noticed, and nothing is missed", async (t) => {
  const hub = await fakeHub(t, ({ response, number }) => {
    if (number === 1) {
      sse(response, greeting(5), frame(6), frame(7));
      return void response.end();
    }
    // The log has another epoch, and goes on after the acknowledged cursor.
    sse(response, greeting(3, "e2"), frame(4), frame(5), frame(6));
  });
  const { stream, notices } = open(hub, { after: 5, epoch: "e1", transport: "sse" });
  assert.deepEqual(await take(stream, 5), [6, 7, 4, 5, 6]);
  const rewound = notices.find(({ kind }) => kind === "rewound");
  assert.deepEqual(rewound, { kind: "rewound", from: 7, to: 3 });
  assert.deepEqual([stream.cursor, stream.epoch], [6, "e2"]);
  await stream.return();
});

test("a stream of new events skips those that it returned before a restore", async (t) => {
  const hub = await fakeHub(t, ({ path, response, number }) => {
    if (number === 1) {
      assert.equal(path, "/events/stream");
      sse(response, greeting(5), frame(6), frame(7));
      return void response.end();
    }
    sse(response, greeting(3, "e2"), frame(4), frame(6), frame(8));
  });
  const { stream } = open(hub, { transport: "sse" });
  assert.deepEqual(await take(stream, 3), [6, 7, 8]);
  await stream.return();
});

test("a proxy that lets no stream through is passed by with long polls", async (t) => {
  const hub = await fakeHub(t, ({ path, response }) => {
    if (path.startsWith("/ws")) return { status: 400, text: "no upgrade" };
    if (path.startsWith("/events/stream")) return { status: 501, text: "streams are off" };
    const query = new URLSearchParams(path.split("?")[1]);
    const after = Number(query.get("after"));
    if (after > 1000) return page([], 2);
    if (after === 2 && query.get("wait") === "25") return page([3, 4], 2);
    if (after === 4) return void response; // It waits.
    return page([3, 4], after);
  });
  const { stream, notices } = open(hub, {});
  assert.deepEqual(await take(stream, 2), [3, 4]);
  assert.equal(notices.find(({ kind }) => kind === "connected").transport, "poll");
  await stream.return();
});

test("long polls notice another epoch", async (t) => {
  let isRestored = false;
  const hub = await fakeHub(t, ({ path, response }) => {
    const query = new URLSearchParams(path.split("?")[1]);
    if (query.get("after") === "7") return page([8], 7);
    isRestored ||= query.has("wait");
    if (isRestored && query.get("after") === "2") return void response; // It waits.
    return isRestored ? page([2], 1, "e2") : page([], 8);
  });
  const { stream, notices } = open(hub, { after: 7, epoch: "e1", transport: "poll" });
  assert.deepEqual(await take(stream, 2), [8, 2]);
  assert.deepEqual(
    notices.filter(({ kind }) => kind === "rewound"),
    [{ kind: "rewound", from: 8, to: 1 }],
  );
  await stream.return();
});

test("a refused key ends the stream, and a new one lets it go on", async (t) => {
  const hub = await fakeHub(t, ({ headers, response }) => {
    if (headers.authorization !== "Bearer new") return refusal(401, "unauthorized");
    sse(response, greeting(0), frame(1));
  });
  const { stream } = open(hub, { after: 0, transport: "sse" });
  await assert.rejects(stream.next(), tandem.Unauthorized);
  let looked = 0;
  const keySource = async () => (++looked < 3 ? "old" : "new");
  const client = new tandem.Tandem(hub.url, { key: "old", keySource });
  const renewed = client.events({ after: 0, transport: "sse" });
  assert.deepEqual(await take(renewed, 1), [1]);
  await renewed.return();
});

test("closing the hub, or the caller's signal, ends a stream that waits", async (t) => {
  const hub = await fakeHub(t, ({ response }) => sse(response, greeting(0)));
  const { stream, client } = open(hub, { after: 0, transport: "sse" });
  const waiting = stream.next();
  await client.close();
  assert.equal((await waiting).done, true);
  const ended = new AbortController();
  const other = open(hub, { after: 0, transport: "sse", signal: ended.signal }).stream.next();
  ended.abort();
  assert.equal((await other).done, true);
});

const hasSockets = "WebSocket" in globalThis;
test("a socket is preferred where there is one", async (t) => {
  const hub = await fakeHub(t, ({ path, response }) => {
    if (path === "/ws/ticket") return { json: { ticket: "once", expiresAt: at(0) } };
    sse(response, greeting(0), frame(1));
  });
  const paths = [];
  hub.server.on("upgrade", (request, socket) => {
    paths.push(request.url);
    const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    const head = `HTTP/1.1 101 Yes\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept.digest("base64")}`;
    socket.write(`${head}\r\n\r\n`);
    for (const text of [greeting(0), frame(paths.length)]) {
      const bytes = Buffer.from(text);
      socket.write(Buffer.concat([Buffer.from([0x81, 126, bytes.length >> 8, bytes.length & 255]), bytes]));
    }
    if (paths.length === 1) socket.end();
    t.after(() => socket.destroy());
  });
  const { stream, notices } = open(hub, { after: 0, epoch: "e1" });
  if (!hasSockets) {
    assert.deepEqual(await take(stream, 1), [1]);
    assert.equal(notices[0].transport, "sse");
    return stream.return();
  }
  assert.deepEqual(await take(stream, 2), [1, 2]);
  assert.deepEqual(paths, ["/ws?after=0&epoch=e1&ticket=once", "/ws?after=1&epoch=e1&ticket=once"]);
  assert.equal(notices[0].transport, "ws");
  await stream.return();
});
