// The package in a page of another site: Chromium, a socket, keys of its own.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Tandem } from "tandem-hub";
import { Hub, PATIENCE } from "./hub.mjs";

const FOREIGN = process.env.FOREIGN ?? fileURLToPath(new URL("../../../target/foreign", import.meta.url));
const { chromium } = createRequire(join(FOREIGN, "node_modules/playwright-core/package.json"))("playwright-core");
const DIST = new URL("../dist/", import.meta.url);

/** Runs in the page. */
async function program(url) {
  const { Tandem } = await import("/index.js");
  const ada = await Tandem.register(url, "ada");
  const bob = await Tandem.register(url, "bob");
  await bob.pair((await ada.pair()).code);
  const notices = [];
  const events = bob.events({ onNotice: (notice) => notices.push(notice.transport) });
  const first = events.next();
  const worker = bob.worker(async (task) => `${await task.ask("Which?")} ${(await (await task.files())[0].read()).name}`, {
    acceptFrom: ["ada"],
  });
  const working = worker.run();
  const task = await ada.send("bob", "T", "D", { encrypt: true, files: [new File(["hello"], "a.txt")] });
  const { text } = await task.result({ timeout: 60, onQuestion: () => "this" });
  worker.stop();
  await working;
  const { type } = (await first).value;
  await events.return();
  const { next } = await ada.calls.messagesList(task.id, { limit: 1 });
  return { text, type, transport: notices[0], trust: task.trust, hasNext: next !== null };
}

test("a page registers, works and seals", async (t) => {
  const pages = createServer((request, response) => {
    const isScript = request.url.endsWith(".js");
    const body = isScript ? readFileSync(new URL(`.${request.url}`, DIST)) : "<title>page</title>";
    response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(pages, "listening");
  t.after(() => pages.close());
  const origin = `http://127.0.0.1:${pages.address().port}`;
  const hub = await Hub.start(t, `allowed_origins=${origin}`);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  t.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE * 1000);
  await page.goto(origin);
  const said = await page.evaluate(program, hub.url);
  const right = { text: "this a.txt", type: "agent.connected", transport: "ws", trust: "verified", hasNext: true };
  assert.deepEqual({ ...said, type: right.type }, right);
  assert.equal((await new Tandem(hub.url).calls.hubHealth()).status, "ok");
});
