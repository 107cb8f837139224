// Tests of tail.js: the live list of events.
import assert from 'node:assert/strict';
import { escape, frame, sendHtml } from './fixture.mjs';
import { eventually, isState, setHidden } from './modules-live.mjs';

const NETWORK = [/Failed to load resource/, /net::ERR_/];
const ROW = (cursor, type, task) => `<tr data-cursor="${cursor}" data-type="${type}"><td class="c-time"><time data-slot="time" data-clock="ms"></time></td>
  <td class="c-id" data-slot="cursor">${cursor}</td><td class="c-type"><span class="type" data-slot="type">${type}</span></td>
  <td class="c-task"><a data-slot="task" data-base="/app/ada/tasks/">${task}</a></td><td class="c-agent" data-slot="from"></td>
  <td class="facts-cell"><details><summary data-slot="detail"></summary><pre data-slot="json"></pre></details></td></tr>`;

function tailPage(hub, { filter = '', rows = '', head = '' } = {}) {
  const cursor = hub.log.at(-1)?.id ?? 0;
  return frame({ title: 'Events', cursor, tasks: hub.log.length, main: `${head}
    <button type="button" class="btn" id="tail-pause" hidden><svg></svg><span data-slot="label">Pause</span></button>
    <button type="button" class="newer" id="tail-newer" hidden></button>
    <table class="tail"><tbody id="tail" ${filter}>${rows}</tbody></table><template id="tail-row">${ROW('', '', '')}</template>` });
}

const cursors = (page) => page.evaluate(() => [...document.querySelectorAll('#tail tr')].map((row) => Number(row.dataset.cursor)));
const count = (page, n) => page.waitForFunction((wanted) => document.querySelectorAll('#tail tr').length === wanted, n);
const down = (from, to) => Array.from({ length: from - to + 1 }, (_, n) => from - n);

async function rows({ hub, page }) {
  hub.pages['/app/ada/events'] = tailPage(hub, { filter: `data-names="${escape('{"agent_bob":"bob/reviewer"}')}"` });
  await page.goto(`${hub.origin}/app/ada/events`);
  await isState(page, 'live');
  hub.emit({ data: { type: 'task.updated', taskId: 'x', status: 'working' }, sentence: '“A <b>title</b>” is now Working' });
  hub.emit({ type: 'task.stalled', taskId: null, fromAgentId: null });
  await count(page, 2);
  assert.deepEqual(await cursors(page), [2, 1], 'newest first');
  const cells = await page.locator('#tail tr:last-child td').allTextContents();
  assert.match(cells[0], /^\d\d:\d\d:\d\d\.\d{3}$/);
  assert.deepEqual(cells.slice(1, 5), ['1', 'task.updated', 'task_1', 'bob/reviewer']);
  assert.equal(await page.textContent('#tail tr:last-child summary'), '“A <b>title</b>” is now Working');
  assert.equal(await page.getAttribute('#tail tr:last-child a', 'href'), '/app/ada/tasks/task_1');
  assert.equal(await page.getAttribute('#tail tr:first-child a', 'href'), null);
  assert.equal(await page.getAttribute('#tail tr:first-child .type', 'class'), 'type tone tone-bad');
  assert.equal(await page.textContent('#tail tr:first-child .c-agent'), 'the hub');
  await page.click('#tail tr:last-child summary');
  assert.equal(JSON.parse(await page.textContent('#tail tr:last-child pre')).id, 1);
}

async function hostile({ hub, page }) {
  const bad = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  hub.pages['/app/ada/events'] = tailPage(hub);
  await page.goto(`${hub.origin}/app/ada/events`);
  await isState(page, 'live');
  hub.emit({ type: bad, taskId: `javascript:alert(1)//${bad}`, fromAgentId: bad, data: { [bad]: bad, __proto__: 1, status: bad } });
  await count(page, 1);
  assert.equal(await page.locator('#tail img, #tail script').count(), 0);
  assert.equal(await page.textContent('#tail .type'), bad);
  assert.equal(new URL(await page.evaluate(() => document.querySelector('#tail a').href)).origin, hub.origin);
}

async function reconnects({ hub, page }) {
  const stored = [];
  for (let n = 0; n < 5; n += 1) stored.unshift(hub.emit());
  hub.pages['/app/ada/events'] = tailPage(hub, { rows: stored.map((entry) => ROW(entry.id, entry.type, entry.taskId)).join('') });
  await page.goto(`${hub.origin}/app/ada/events`);
  await isState(page, 'live');
  const some = () => { for (let n = 0; n < 20; n += 1) hub.emit(); };
  for (let round = 0; round < 5; round += 1) {
    some();
    hub.dropStreams();
    some();
    await eventually(page, 'a new stream', () => hub.streams.size === 1);
    await setHidden(page, true);
    some();
    await setHidden(page, false);
    await eventually(page, 'a resumed stream', () => hub.streams.size === 1);
  }
  await count(page, 305);
  assert.deepEqual(await cursors(page), down(305, 1));
  assert.equal(await page.locator('#tail-note').count(), 0, 'no gap');
  assert.ok(hub.opened.length > 9, `${hub.opened.length} streams`);
}

async function filters({ hub, page }) {
  hub.pages['/app/ada/events'] = tailPage(hub, { filter: 'data-filter-type="task.*, message.read" data-filter-from="agent_bob"' });
  hub.pages['/one'] = tailPage(hub, { filter: 'data-filter-task="task_5" data-filter-text="WORK"' });
  await page.goto(`${hub.origin}/app/ada/events`);
  await isState(page, 'live');
  for (const type of ['task.created', 'message.created', 'message.read', 'agent.connected', 'task.updated']) hub.emit({ type });
  hub.emit({ fromAgentId: 'agent_cyd' });
  hub.emit();
  await page.waitForSelector('#tail tr[data-cursor="7"]');
  assert.deepEqual(await cursors(page), [7, 5, 3, 1]);
  await page.goto(`${hub.origin}/one`);
  await page.waitForSelector('#tail tr');
  assert.deepEqual(await cursors(page), [5]);
}

async function pauses({ hub, page }) {
  hub.pages['/app/ada/events'] = tailPage(hub, { head: '<svg width="10" height="300"></svg>' });
  await page.goto(`${hub.origin}/app/ada/events`);
  await isState(page, 'live');
  hub.emit();
  await count(page, 1);
  await page.click('#tail-pause');
  assert.equal(await page.textContent('#tail-pause'), 'Resume');
  assert.equal(await page.locator('#tail-pause svg').count(), 1);
  hub.emit();
  await page.waitForSelector('#tail-newer:has-text("1 newer event waits")');
  for (let n = 0; n < 11; n += 1) hub.emit();
  await page.waitForSelector('#tail-newer:has-text("12 newer events wait")');
  assert.equal((await cursors(page)).length, 1);
  await page.click('#tail-newer');
  assert.deepEqual(await cursors(page), down(13, 1));
  hub.emit();
  await page.waitForSelector('#tail-newer:has-text("1 newer event waits")', { state: 'visible' });
  await page.click('#tail-pause');
  await count(page, 14);
  assert.equal(await page.isVisible('#tail-newer'), false);
  for (let n = 0; n < 100; n += 1) hub.emit();
  await count(page, 114);
  // A reader who scrolled down keeps the place.
  await page.evaluate(() => scrollTo(0, 900));
  const top = await page.evaluate(() => document.querySelector('[data-cursor="50"]').getBoundingClientRect().top);
  for (let n = 0; n < 600; n += 1) hub.emit();
  await page.waitForFunction(() => document.getElementById('tail-newer').textContent.startsWith('600 newer events wait'));
  assert.match(await page.textContent('#tail-newer'), /The newest 500 are kept here: reload to see all/);
  assert.equal(await page.evaluate(() => document.querySelector('[data-cursor="50"]').getBoundingClientRect().top), top);
  await page.evaluate(() => scrollTo(0, 0));
  await count(page, 500);
  assert.deepEqual(await cursors(page), down(714, 215), 'the newest 500 without a gap');
}

async function gaps({ hub, page }) {
  hub.pages['/app/ada/events'] = tailPage(hub);
  await page.goto(`${hub.origin}/app/ada/events`);
  await isState(page, 'live');
  hub.emit();
  hub.emit({ id: 5 });
  await page.waitForSelector('#tail-note:has-text("Events 2 to 4 are missing here")');
  await count(page, 2);
  assert.deepEqual(await cursors(page), [5, 1]);
}

async function long({ hub, page, context }) {
  hub.pages['/app/ada/events'] = (_, response) => sendHtml(response, tailPage(hub));
  await page.goto(`${hub.origin}/app/ada/events`);
  await isState(page, 'live');
  const session = await context.newCDPSession(page);
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize / 1e6;
  };
  const sizes = [];
  for (let round = 1; round <= 4; round += 1) {
    for (let n = 0; n < 5000; n += 1) {
      hub.emit();
      if (n % 250 === 0) await page.waitForTimeout(30);
    }
    await page.waitForSelector(`#tail tr[data-cursor="${round * 5000}"]`);
    assert.deepEqual(await cursors(page), down(round * 5000, round * 5000 - 499));
    sizes.push(await heap());
  }
  console.log(`       heap after each 5,000 events: ${sizes.map((size) => size.toFixed(1)).join(', ')} MB`);
  assert.ok(sizes[3] < sizes[0] + 1 && sizes[3] < 20, 'the heap grows');
  await eventually(page, 'the counts follow', () => hub.refreshes().length > 0);
}

export const tests = [
  ['tail: a row per event, newest first', rows],
  ['tail: hostile text stays text', hostile],
  ['tail: no row is lost or doubled over reconnects', reconnects, { allowed: NETWORK }],
  ['tail: filters apply to new events', filters],
  ['tail: rows wait while paused or scrolled', pauses],
  ['tail: a gap is stated', gaps],
  ['tail: 20,000 events leave 500 rows and a bounded heap', long],
];
