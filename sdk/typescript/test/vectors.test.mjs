// The vectors of sdk/vectors: what Rust has written, and what every client must make of it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as tandem from "tandem-hub";

const FOLDER = new URL("../../vectors/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
const { PrivateKey, PublicKey } = tandem;

test("fingerprints", async () => {
  const keys = Object.values(read("keys.json"));
  assert.equal(keys.length, 3);
  for (const { private: secret, public: pem, fingerprint, words } of keys) {
    const [own, other] = [(await PrivateKey.fromPem(secret)).publicKey, await PublicKey.fromPem(pem)];
    for (const key of [own, other]) assert.deepEqual([key.fingerprint, key.words, key.pem], [fingerprint, words, pem]);
  }
  for (const { public: pem, hex, words } of read("fingerprints.json").examples) {
    const key = await PublicKey.fromPem(pem);
    assert.deepEqual([key.fingerprint, key.words], [hex, words]);
  }
});

test("what Rust has sealed is opened, and what must be refused is", async () => {
  const { taskId, agents, opened, refused } = read("sealed.json");
  const keys = read("keys.json");
  const cast = {};
  for (const name of ["ana", "bob"]) cast[name] = await PrivateKey.fromPem(keys[name].private);
  assert(opened.length >= 3 && refused.length >= 5);
  for (const { sender, plaintext, sealed } of opened) {
    for (const [name, key] of Object.entries(cast)) {
      assert.equal(await tandem.open(taskId, sealed, agents[name], key, cast[sender].publicKey), plaintext);
    }
    await assert.rejects(tandem.open(`${taskId}x`, sealed, agents.bob, cast.bob, cast[sender].publicKey), { part: "signature" });
  }
  for (const { why, sender, reader, sealed, error } of refused) {
    const opening = tandem.open(taskId, sealed, agents[reader], cast[reader], cast[sender].publicKey);
    assert.equal((await opening.catch((failure) => failure)).part, error, why);
  }
});

test("what is sealed here is opened here, and is what Rust gets", async () => {
  const { taskId, agents } = read("sealed.json");
  const keys = read("keys.json");
  const [ana, bob] = [await PrivateKey.fromPem(keys.ana.private), await PrivateKey.fromPem(keys.bob.private)];
  const value = { contentType: "text", body: "Fertig 🎉" };
  const child = execFile(process.execPath, [fileURLToPath(new URL("../suite/seals.mjs", import.meta.url))]);
  child.stdin.end(`${JSON.stringify({ taskId, sender: "ana", kind: "message", value })}\n`);
  let said = "";
  for await (const part of child.stdout) said += part;
  const sealed = JSON.parse(said);
  assert.equal(await tandem.open(taskId, sealed, agents.bob, bob, ana.publicKey), JSON.stringify(value));
  const bits = sealed.content.split("");
  bits[20] = bits[20] === "A" ? "B" : "A";
  await assert.rejects(tandem.open(taskId, { ...sealed, content: bits.join("") }, agents.bob, bob, ana.publicKey), {
    part: "signature",
  });
});

test("webhooks", async () => {
  const all = read("webhooks.json");
  assert(all.some(({ valid }) => valid) && all.some(({ valid }) => !valid));
  for (const { secret, body, headers, now, valid, why } of all) {
    const verified = await tandem.verify(headers, body, secret, { now }).then(
      () => true,
      (failure) => !(failure instanceof tandem.InvalidWebhook) && String(failure),
    );
    assert.equal(verified, valid, why);
    const given = new Headers(headers);
    if (valid) assert.deepEqual(await tandem.verify(given, new TextEncoder().encode(body), secret, { now }), JSON.parse(body));
  }
});

test("error answers", () => {
  const kinds = { lost: tandem.AnswerLost, not_a_hub: tandem.NotAHub, refused: tandem.Refused, unavailable: tandem.Unavailable };
  for (const { status, headers, body, expect } of read("errors.json")) {
    const failure = tandem.errorOf(status, new Headers(headers), body);
    assert(failure instanceof kinds[expect.kind], `${status} ${body}: ${failure.name}`);
    assert.equal(failure instanceof tandem.NotAHub, expect.kind === "not_a_hub");
    assert.equal(failure.retryAfter ?? null, expect.retryAfter ?? null, body);
    if (expect.kind !== "refused") continue;
    for (const field of ["code", "taskStatus", "nextStatuses"]) assert.deepEqual(failure[field], expect[field], body);
  }
});

test("event frames", () => {
  for (const { frame, expect } of read("events.json")) {
    const { event, ...parsed } = tandem.parseFrame(frame);
    Object.assign(parsed, event);
    for (const [field, value] of Object.entries(expect)) assert.deepEqual(parsed[field], value, `${field} of ${frame}`);
  }
});

test("names", () => {
  for (const { name, folded } of read("names.json").names) {
    assert.equal(tandem.foldedName(name), folded, JSON.stringify(name));
  }
  for (const [first, last] of read("names.json").invisible) {
    for (let code = first; code <= last; code++) {
      assert.equal(tandem.foldedName(`a${String.fromCodePoint(code)}b`), "ab", code.toString(16));
    }
  }
});
