// Tests of live.js and refresh.js: the stream, its state in words, and the refresh that takes nothing from the person.
import assert from 'node:assert/strict';
import { frame, sendHtml } from './fixture.mjs';

const NETWORK = [/Failed to load resource/, /net::ERR_/];

/** Waits for something that is true in this process. */
export async function eventually(page, what, check) {
  for (let tries = 0; tries < 300; tries += 1) {
    if (check()) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`never: ${what}`);
}

export const isState = (page, state) => page.waitForSelector(`#live[data-state=${state}]`);

/** Makes the page think that it is hidden or shown. */
export async function setHidden(page, hidden) {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
}

async function replaces({ hub, page }) {
  let [wait, list] = [0, '<li>first</li>'];
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, frame({ wait, title: wait ? `(${wait}) Home` : 'Home',
    main: `<div id="same" data-live><time datetime="2020-01-01T00:00:00Z">then</time></div><ul id="list" data-live>${list}</ul><p id="plain">${wait}</p>
      <svg width="10" height="3000"></svg>` }));
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  assert.equal(await page.textContent('#live'), 'Live');
  await page.evaluate(() => {
    for (const id of ['same', 'list', 'main']) document.getElementById(id).marked = true;
    scrollTo(0, 500);
    window.top0 = document.querySelector('svg').getBoundingClientRect().top;
  });
  [wait, list] = [2, '<li>first</li><li>second</li>'];
  hub.emit();
  await page.waitForFunction(() => document.querySelectorAll('#list li').length === 2);
  assert.equal(await page.title(), '(2) Home');
  assert.equal(await page.textContent('#count-approvals'), '2');
  assert.equal(await page.textContent('#announce'), 'Approvals: 2');
  assert.deepEqual(await page.evaluate(() => ['same', 'list', 'main'].map((id) => document.getElementById(id).marked ?? false)), [true, false, true]);
  assert.equal(await page.textContent('#plain'), '0', 'what is no region stays');
  assert.equal(await page.evaluate(() => document.querySelector('svg').getBoundingClientRect().top - window.top0), 0, 'what the reader sees stays');
  assert.equal(hub.opened.length, 1);
  // A refresh that changes no count says nothing.
  await page.evaluate(() => { document.getElementById('announce').textContent = 'unchanged'; });
  list = '<li>third</li>';
  hub.emit();
  await page.waitForSelector('#list li:has-text("third")');
  assert.equal(await page.textContent('#announce'), 'unchanged');
}

async function keepsWork({ hub, page }) {
  let n = 0;
  const region = (id, html) => `<section id="${id}" data-live><b>${n}</b>${html}</section>`;
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, frame({ main: region('typed', '<textarea id="text"></textarea>')
    + region('focus', '<a id="link" href="/">link</a>') + region('marked', '<p id="words">some words to mark</p>')
    + region('kept', '<details id="more"><summary>More</summary>hidden</details>') + region('form', '<details><summary id="open">Reject</summary>form</details>')
    + region('ticked', '<input type="checkbox" id="tick"><select id="pick"><option>one<option>two</select>') + region('free', '') }));
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  const shown = (id) => page.textContent(`#${id} b`);
  await page.fill('#text', 'half a sentence');
  await page.check('#tick');
  await page.selectOption('#pick', 'two');
  await page.click('#more summary');
  await page.click('#open');
  await page.evaluate(() => getSelection().selectAllChildren(document.getElementById('words')));
  await page.focus('#link');
  n = 1;
  hub.emit();
  await page.waitForFunction(() => document.querySelector('#free b').textContent === '1');
  for (const id of ['typed', 'focus', 'marked', 'form', 'ticked']) assert.equal(await shown(id), '0', id);
  assert.equal(await shown('kept'), '1', 'a <details> with an id is replaced and stays open');
  assert.equal(await page.evaluate(() => document.getElementById('more').open), true);
  assert.equal(await page.inputValue('#text'), 'half a sentence');
  assert.equal(await page.textContent('#live'), 'Live, 5 parts wait');
  // Leaving the parts lets them change, without another event.
  await page.evaluate(() => { document.activeElement.blur(); getSelection().removeAllRanges(); });
  await page.waitForFunction(() => ['focus', 'marked'].every((id) => document.querySelector(`#${id} b`).textContent === '1'));
  assert.equal(await page.inputValue('#text'), 'half a sentence');
  await page.click('#open');
  await page.evaluate(() => document.activeElement.blur());
  await page.waitForFunction(() => document.querySelector('#form b').textContent === '1');
  await page.waitForFunction(() => document.getElementById('live').textContent === 'Live, 2 parts wait');
}

async function newRegions({ hub, page }) {
  let main = '<ul id="list" data-live><li>one</li></ul>';
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, frame({ main }));
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  main = '<p id="empty" data-live>Nothing waits for you. <button type="button" data-copy="#empty" hidden>Copy</button></p>';
  hub.emit();
  await page.waitForSelector('#empty');
  assert.equal(await page.locator('#list').count(), 0);
  await page.waitForSelector('[data-copy]:visible');
}

async function paced({ hub, page }) {
  hub.pages['/app/ada'] = (_, response) => setTimeout(() => sendHtml(response, frame({ main: `<p id="n" data-live>${hub.log.length}</p>` })), 300);
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  const timer = setInterval(() => hub.emit(), 10);
  await eventually(page, 'five refreshes', () => hub.refreshes().length >= 5);
  clearInterval(timer);
  const times = hub.refreshes().map((request) => request.at);
  // Measured at the server, so a loaded machine blurs it.
  for (let at = 1; at < times.length; at += 1) assert.ok(times[at] - times[at - 1] > 600, `refreshes ${times[at] - times[at - 1]} ms apart`);
  assert.ok(times[4] - times[0] > 3600, `five refreshes within ${times[4] - times[0]} ms`);
  assert.equal(hub.runningMax, 1, 'never two at once');
  await page.waitForFunction((n) => document.getElementById('n').textContent === String(n), hub.log.length);
}

async function late({ hub, page }) {
  let n = 0;
  let hold = false;
  const waiting = [];
  hub.pages['/app/ada'] = (_, response) => {
    const html = frame({ main: `<p id="n" data-live>${n}</p>` });
    if (hold) waiting.push(() => sendHtml(response, html));
    else sendHtml(response, html);
  };
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  [hold, n] = [true, 1];
  hub.emit();
  await eventually(page, 'a slow answer', () => waiting.length === 1);
  await setHidden(page, true);
  [hold, n] = [false, 2];
  await setHidden(page, false);
  await page.waitForFunction(() => document.getElementById('n').textContent === '2');
  for (const answer of waiting) answer();
  await isState(page, 'live');
  assert.equal(await page.textContent('#n'), '2');
}

async function reconnects({ hub, page }) {
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, frame({ main: `<p id="n" data-live>${hub.log.length}</p>` }));
  await page.addInitScript(() => {
    window.seen = [];
    document.addEventListener('tandem:event', (event) => window.seen.push(event.detail.id));
  });
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  for (let round = 0; round < 5; round += 1) {
    for (let n = 0; n < 20; n += 1) {
      hub.emit();
      if (n === 10) hub.dropStreams();
    }
    await eventually(page, 'a new stream', () => hub.streams.size === 1);
  }
  await page.waitForFunction(() => window.seen.length >= 100);
  assert.deepEqual(await page.evaluate(() => window.seen), Array.from({ length: 100 }, (_, n) => n + 1));
  assert.ok(hub.opened.length >= 6 && hub.opened.every((after, at) => at === 0 || after >= hub.opened[at - 1]), `${hub.opened}`);
  await page.waitForFunction(() => document.getElementById('n').textContent === '100');
}

async function flaps({ hub, page }) {
  hub.pages['/app/ada'] = frame({});
  hub.stream = (_, __, response) => {
    hub.opened.push(Date.now());
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hello\n\n');
  };
  await page.goto(`${hub.origin}/app/ada`);
  await eventually(page, 'four streams', () => hub.opened.length === 4);
  // Pauses of at least 0.5, 1 and 2 seconds.
  assert.ok(hub.opened[3] - hub.opened[0] > 3300, `four streams within ${hub.opened[3] - hub.opened[0]} ms`);
}

async function stale({ hub, page }) {
  let works = true;
  hub.pages['/app/ada'] = (_, response) => works ? sendHtml(response, frame({ cursor: 7, main: `<p id="n" data-live>${hub.log.length}</p>` }))
    : response.writeHead(503).end();
  hub.emit({ id: 7 });
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  await page.fill('#search', 'typed');
  [works, hub.refusesStreams] = [false, true];
  hub.dropStreams();
  await isState(page, 'stale');
  assert.match(await page.textContent('#live'), /^Not live, \d+ s old$/);
  assert.equal(await page.textContent('#live span[aria-hidden]').then((text) => /old/.test(text)), true, 'the seconds are not announced');
  assert.match(await page.textContent('#live-banner'), /Connection lost \d+ s ago\. You see the state of \d\d:\d\d:\d\d\. Nothing is missed: the page resumes after event 7\./);
  await page.waitForFunction(() => /Next try in \d+ s/.test(document.getElementById('live-banner').textContent));
  await page.waitForFunction(() => / [4-9] s old/.test(document.getElementById('live').textContent));
  const tries = hub.refreshes().map((request) => request.at);
  assert.ok(tries.length >= 2 && tries.length < 6, `${tries.length} tries`);
  // In the page, because the banner is written again every second and goes with the first try that succeeds.
  const tryNow = () => page.evaluate(() => document.querySelector('#live-banner button')?.click());
  const tried = hub.refreshes().length;
  await tryNow();
  await eventually(page, 'the button tries at once', () => hub.refreshes().length > tried);
  hub.emit();
  [works, hub.refusesStreams] = [true, false];
  await tryNow();
  await isState(page, 'live');
  await page.waitForFunction(() => !document.getElementById('live-banner'));
  assert.equal(await page.textContent('#n'), '2');
  assert.equal(await page.inputValue('#search'), 'typed');
}

async function hidden({ hub, page }) {
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, frame({ mainAttributes: 'data-refresh="1"', main: `<p id="n" data-live>${hub.log.length}</p>` }));
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  hub.emit();
  await page.waitForFunction(() => document.getElementById('n').textContent === '1');
  await setHidden(page, true);
  await eventually(page, 'the stream closed', () => hub.streams.size === 0);
  const before = hub.requests.length;
  hub.emit();
  await page.waitForTimeout(1500);
  assert.equal(hub.requests.length, before, 'a hidden page asks for nothing');
  await setHidden(page, false);
  await page.waitForFunction(() => document.getElementById('n').textContent === '2');
  await isState(page, 'live');
  assert.deepEqual(hub.opened, [0, 1]);
}

async function backForward({ hub, page }) {
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, frame({ main: `<p id="n" data-live>${hub.log.length}</p>` }));
  hub.pages['/other'] = '<!doctype html><title>Other</title><link rel="icon" href="data:,">';
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  await page.evaluate(() => addEventListener('pageshow', (event) => { window.wasKept = event.persisted; }));
  await page.goto(`${hub.origin}/other`);
  await eventually(page, 'the stream closed', () => hub.streams.size === 0);
  hub.emit();
  await page.evaluate(() => history.back());
  await page.waitForFunction(() => document.getElementById('n').textContent === '1');
  await isState(page, 'live');
  assert.equal(hub.streams.size, 1);
  console.log(`       kept by the browser: ${await page.evaluate(() => window.wasKept ?? false)}`);
}

async function signedOut({ hub, page }) {
  let isIn = true;
  hub.pages['/app/sign-in'] = '<!doctype html><title>Sign in</title><p id="count-tasks" data-live>99</p>';
  hub.pages['/app/ada'] = (_, response) => isIn ? sendHtml(response, frame({ main: '<p id="n" data-live>secret</p>' }))
    : response.writeHead(303, { location: '/app/sign-in' }).end();
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  isIn = false;
  hub.emit();
  await isState(page, 'stale');
  assert.match(await page.textContent('#live'), /^Signed out/);
  assert.equal(await page.getAttribute('#live-banner a', 'href'), '/app/sign-in');
  assert.equal(await page.textContent('#count-tasks'), '0', 'nothing of the sign-in page comes in');
  await eventually(page, 'the stream closed', () => hub.streams.size === 0);
  // Signed in again in another tab.
  isIn = true;
  await setHidden(page, true);
  await setHidden(page, false);
  await isState(page, 'live');
  for (const stream of hub.streams) stream.write('event: end\ndata: {"reason":"signed-out"}\n\n');
  await page.waitForFunction(() => document.getElementById('live').textContent.startsWith('Signed out'));
  await page.reload();
  await isState(page, 'live');
  for (const stream of hub.streams) stream.end('event: end\ndata: {"reason":"restart"}\n\n');
  await eventually(page, 'a new stream', () => hub.opened.length === 4 && hub.streams.size === 1);
  await isState(page, 'live');
}

async function polls({ hub, page }) {
  let n = 0;
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, frame({ mainAttributes: 'data-refresh="1"', main: `<svg id="plot" data-live><text>${n++}</text></svg>` }));
  await page.goto(`${hub.origin}/app/ada`);
  await page.waitForFunction(() => document.querySelector('#plot text').textContent === '3');
  assert.equal(await page.evaluate(() => document.querySelector('#plot text').namespaceURI), 'http://www.w3.org/2000/svg');
}

async function silence({ hub, page }) {
  await page.clock.install();
  hub.pages['/app/ada'] = frame({ main: '' });
  await page.goto(`${hub.origin}/app/ada`);
  await eventually(page, 'a stream', () => hub.streams.size === 1);
  for (const stream of hub.streams) stream.write('event: ping\ndata: {}\n\n');
  await page.clock.runFor(30_000);
  assert.equal(hub.opened.length, 1);
  await page.clock.runFor(20_000);
  await eventually(page, 'a new stream after silence', () => hub.opened.length === 2);
}

async function hostile({ hub, page }) {
  const bad = '&lt;img src=x onerror=alert(1)&gt;';
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, frame({ main: `<p id="n" data-live>${hub.log.length ? bad : ''}</p>` }));
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  hub.emit({ type: '<script>alert(1)</script>' });
  await page.waitForFunction(() => document.getElementById('n').textContent === '<img src=x onerror=alert(1)>');
  assert.equal(await page.locator('#n img').count(), 0);
  for (const stream of hub.streams) stream.write('id: 9\nevent: log\ndata: {not json\n\n');
  hub.emit({ id: 2 });
  await eventually(page, 'it goes on', () => hub.refreshes().length >= 2);
}

export const tests = [
  ['live: changed regions are replaced, others stay', replaces],
  ['live: a refresh takes nothing that the person does', keepsWork],
  ['live: other regions replace the whole content', newRegions],
  ['live: at most one refresh a second, never two at once', paced],
  ['live: a late answer is dropped', late],
  ['live: no event is lost or doubled over reconnects', reconnects, { allowed: NETWORK }],
  ['live: a stream that breaks at once is not opened in a loop', flaps, { allowed: NETWORK }],
  ['live: a lost connection is stated and comes back', stale, { allowed: NETWORK }],
  ['live: a hidden page has no stream', hidden],
  ['live: back and forward resume', backForward],
  ['live: signed out', signedOut, { allowed: NETWORK }],
  ['live: pages with plots are fetched again', polls],
  ['live: a silent connection is replaced', silence, { allowed: NETWORK }],
  ['live: hostile text stays text', hostile],
];
