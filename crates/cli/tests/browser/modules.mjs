// Tests of the dashboard's JavaScript modules in a real browser, against a stand-in for the hub (`fixture.mjs`).
// Usage: NODE_PATH=FOLDER/node_modules node modules.mjs [GROUP | part of a test's name], where GROUP is page, live, tail or
// sealed
// A test fails on a console error, a broken content security policy or a request to another origin.
import { createRequire } from 'node:module';
import { Fixture } from './fixture.mjs';
import { tests as live } from './modules-live.mjs';
import { tests as page } from './modules-page.mjs';
import { tests as sealed } from './modules-sealed.mjs';
import { tests as tail } from './modules-tail.mjs';

const { chromium } = createRequire(import.meta.url)('playwright-core');
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP lan.test 127.0.0.1'];
const TEST_MS = 60_000;

/** Everything that a page may not do. `allowed` patterns are the errors that a test provokes. */
function watch(context, problems, allowed) {
  const report = (text) => { if (!allowed.some((pattern) => pattern.test(text))) problems.push(text); };
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') report(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => report(`error: ${error.error().stack}`));
  context.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    const isOwn = protocol === 'data:' || protocol === 'blob:' || hostname === '127.0.0.1' || hostname === 'lan.test';
    if (!isOwn) report(`request to ${request.url()}`);
  });
}

async function run(browser, [name, test, options = {}]) {
  const problems = [];
  const hub = await new Fixture().start();
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options.context });
  watch(context, problems, options.allowed ?? []);
  const started = Date.now();
  let late;
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const deadline = new Promise((_, reject) => { late = setTimeout(() => reject(new Error('too late')), TEST_MS); });
    await Promise.race([test({ hub, page, context }), deadline]);
  } catch (cause) {
    problems.push(cause.stack ?? String(cause));
  }
  clearTimeout(late);
  await context.close();
  hub.stop();
  console.log(`${problems.length ? 'FAILED' : 'ok    '} ${name} (${Date.now() - started} ms)`);
  for (const problem of problems) console.log(`       ${problem.replaceAll('\n', '\n       ')}`);
  return problems.length === 0;
}

const groups = { page, live, tail, sealed };
const asked = process.argv[2] ?? '';
const wanted = groups[asked] ?? Object.values(groups).flat().filter(([name]) => name.includes(asked));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true,
  args: ARGUMENTS, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
let passed = 0;
for (const test of wanted) passed += await run(browser, test);
await browser.close();
console.log(`${passed} passed, ${wanted.length - passed} failed`);
process.exitCode = passed === wanted.length && passed > 0 ? 0 : 1;
