// Tests of the small modules: start, times, toasts, copy, theme, shortcuts, codes; and of the budget.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { APP, frame } from './fixture.mjs';

const BUDGET_BYTES = 64_000;
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

async function budget() {
  const sizes = readdirSync(APP).filter((name) => name.endsWith('.js')).map((name) => readFileSync(new URL(name, APP)).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`       ${total} bytes in ${sizes.length} modules`);
  assert.ok(total <= BUDGET_BYTES, `${total} bytes of JavaScript, at most ${BUDGET_BYTES} are allowed`);
}

async function times({ hub, page }) {
  await page.clock.install();
  hub.pages['/app/ada'] = frame({ main: `<time id="old" datetime="${ago(125)}">x</time>
    <time id="left" data-left datetime="${ago(-11 * 60 - 30)}">x</time>
    <time id="soon" data-left data-over="expired" datetime="${ago(-60)}">x</time>
    <time id="clock" data-clock="ms" datetime="2026-05-03T10:11:12.345Z">x</time><time id="bad" datetime="never">as is</time>` });
  await page.goto(`${hub.origin}/app/ada`);
  await page.waitForFunction(() => document.getElementById('old').textContent === '2 min ago');
  assert.equal(await page.textContent('#left'), '11 min');
  assert.match(await page.textContent('#soon'), /^(1:00|0:[0-5]\d)$/);
  assert.match(await page.textContent('#clock'), /^\d\d:\d\d:12\.345$/);
  assert.equal(await page.textContent('#bad'), 'as is');
  assert.match(await page.getAttribute('#old', 'title'), /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d /);
  await page.clock.fastForward(61_000);
  await page.waitForFunction(() => document.getElementById('soon').textContent === 'expired');
  // What just ended changes the page too.
  while (hub.refreshes().length === 0) await page.waitForTimeout(50);
  // The server tells times by the same table.
  const table = JSON.parse(readFileSync(new URL('times.json', import.meta.url)));
  const words = await page.evaluate(async ({ now, relative: past, left: rest }) => {
    const { relative, left } = await import('/static/h/times.js');
    const all = (/** @type {object} */ of, tell) => Object.fromEntries(Object.keys(of).map((ms) => [ms, tell(Number(ms))]));
    return { relative: all(past, (ms) => relative(now, now + ms).text), left: all(rest, (ms) => left(ms, false)?.text),
      clock: left(581_000, true)?.text, none: left(0, false) };
  }, table);
  assert.deepEqual([words.relative, words.left], [table.relative, table.left]);
  assert.deepEqual([words.clock, words.none], ['9:41', null]);
}

async function oneTimer({ hub, page }) {
  await page.addInitScript(() => {
    window.timers = 0;
    const original = window.setTimeout;
    window.setTimeout = (...given) => { window.timers += 1; return original(...given); };
  });
  hub.pages['/app/ada'] = frame({ live: false, main: Array.from({ length: 300 }, () => `<time datetime="${ago(3605)}">x</time>`).join('') });
  await page.goto(`${hub.origin}/app/ada`);
  await page.waitForFunction(() => document.querySelector('time').textContent === '1 h ago');
  // One at the start and one when the page is shown, which replaces it.
  assert.ok(await page.evaluate(() => window.timers) <= 2);
}

async function toasts({ hub, page }) {
  await page.clock.install();
  hub.pages['/app/ada'] = frame({ live: false, main: '<div class="toast" role="status">Approved.</div>' });
  await page.goto(`${hub.origin}/app/ada?done=approved&status=open`);
  await page.waitForFunction(() => location.search === '?status=open');
  await page.hover('.toast');
  await page.clock.fastForward(7000);
  assert.equal(await page.locator('.toast').count(), 1, 'it stays while the person points at it');
  await page.mouse.move(0, 600);
  await page.clock.fastForward(7000);
  assert.equal(await page.locator('.toast').count(), 0);
}

async function copy({ hub, page }) {
  const main = `<code id="what">tandem send bob "hi &lt;b&gt;"</code><button id="b" type="button" data-copy="#what" hidden>Copy</button>`;
  hub.pages['/app/ada'] = frame({ live: false, main });
  await page.goto(`${hub.origin}/app/ada`);
  await page.click('#b');
  await page.waitForSelector('#toasts .toast:has-text("Copied.")');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'tandem send bob "hi <b>"');
  await page.evaluate(() => navigator.clipboard.writeText('other'));
  // A page by plain HTTP from another computer has no clipboard interface.
  await page.goto(`http://lan.test:${new URL(hub.origin).port}/app/ada`);
  assert.equal(await page.evaluate(() => isSecureContext), false);
  await page.click('#b');
  await page.waitForSelector('#toasts .toast:has-text("Copied.")');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'b');
  await page.goto(`${hub.origin}/app/ada`);
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'tandem send bob "hi <b>"');
}

async function theme({ hub, page, context }) {
  const choices = ['system', 'light', 'dark'].map((name) => `<button type="button" data-theme-set="${name}" hidden>${name}</button>`).join('');
  hub.pages['/app/ada'] = frame({ live: false, main: choices });
  const theme = (of) => of.evaluate(() => document.documentElement.dataset.theme ?? 'system');
  await page.goto(`${hub.origin}/app/ada`);
  const other = await context.newPage();
  await other.goto(`${hub.origin}/app/ada`);
  await page.click('[data-theme-set=dark]');
  assert.equal(await theme(page), 'dark');
  assert.equal(await page.getAttribute('[data-theme-set=dark]', 'aria-pressed'), 'true');
  await other.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  // The boot script alone applies it, before any module.
  await page.route('**/app.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
  await page.reload();
  assert.equal(await theme(page), 'dark');
  await page.unroute('**/app.js');
  await page.reload();
  await page.click('[data-theme-set=system]');
  assert.equal(await theme(page), 'system');
  assert.equal(await page.evaluate(() => localStorage.length), 0);
}

async function codes({ hub, page }) {
  hub.pages['/setup'] = frame({ live: false, main: '<form method="post"><input id="c" name="code" data-code><button id="go">Go on</button></form>' });
  await page.goto(`${hub.origin}/setup?x=1#code=BLUE-TIGER-1234`);
  await page.waitForFunction(() => document.getElementById('c').value === 'BLUE-TIGER-1234');
  assert.equal(page.url(), `${hub.origin}/setup?x=1`);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'go');
  await page.evaluate(() => { location.hash = '%3Cimg%20src%3Dx%3E'; });
  await page.waitForFunction(() => document.getElementById('c').value === '<img src=x>');
  assert.equal(page.url(), `${hub.origin}/setup?x=1`);
  assert.equal(hub.requests.filter((request) => request.method === 'POST').length, 0, 'the person presses the button');
  assert.ok(hub.requests.every((request) => !JSON.stringify(request).includes('TIGER')));
}

async function keys({ hub, page }) {
  const card = (n) => `<article data-row id="card${n}"><a href="/app/ada/tasks/${n}">Task ${n}</a>
    <form method="post" action="/decide"><button data-key="a" id="a${n}">Approve</button></form>
    <details data-key="r" id="r${n}"><summary>Reject…</summary><form method="post" action="/decide"><textarea id="why${n}"></textarea><button>Reject</button></form></details></article>`;
  const html = frame({ live: false, main: `<button data-keys-show hidden id="show">Keys</button>${card(1)}${card(2)}` });
  for (const path of ['/app/ada', '/app/ada/approvals', '/app/ada/tasks', '/app/ada/events', '/app/ada/tasks/2']) hub.pages[path] = html;
  const active = () => page.evaluate(() => document.activeElement.id);
  await page.goto(`${hub.origin}/app/ada`);
  for (const [second, path] of [['a', '/approvals'], ['t', '/tasks'], ['e', '/events'], ['h', '']]) {
    await page.keyboard.press('g');
    await Promise.all([page.waitForURL(`${hub.origin}/app/ada${path}`), page.keyboard.press(second)]);
    await page.waitForLoadState('load');
  }
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  assert.equal(await active(), 'card2');
  await page.keyboard.press('j');
  assert.equal(await active(), 'card2', 'there is no row after the last');
  await page.keyboard.press('a');
  assert.equal(await active(), 'a2');
  await page.keyboard.press('k');
  await page.keyboard.press('r');
  assert.equal(await active(), 'why1');
  await page.keyboard.type('gt/jkar?');
  assert.equal(await page.inputValue('#why1'), 'gt/jkar?', 'in a field every key is text');
  assert.equal(hub.requests.filter((request) => request.method === 'POST').length, 0, 'no key decides');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('/');
  assert.equal(await active(), 'search');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('?');
  await page.waitForSelector('#keys:popover-open');
  await page.click('#keys input');
  await page.keyboard.press('Escape');
  await page.waitForSelector('#keys:popover-open', { state: 'detached' });
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('/');
  assert.notEqual(await active(), 'search', 'switched off');
  await page.reload();
  await page.keyboard.press('?');
  assert.equal(await page.locator('#keys').count(), 0, 'still off after a reload');
  await page.keyboard.press('Control+/');
  await page.waitForSelector('#keys:popover-open');
  await page.click('#keys input');
  await page.click('#keys .btn');
  await page.click('#show');
  await page.waitForSelector('#keys:popover-open');
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await Promise.all([page.waitForURL(/tasks\/2$/), page.keyboard.press('Enter')]);
}

export const tests = [
  ['page: all modules together are small', budget],
  ['page: times stay fresh', times],
  ['page: one timer serves all times', oneTimer],
  ['page: a toast goes unless it is used', toasts],
  ['page: copy, with and without the clipboard interface', copy],
  ['page: the colour scheme is stored', theme],
  ['page: codes leave the address', codes],
  ['page: shortcuts move and never decide', keys],
];
