// Two people and an operator use the dashboard of a running hub, from the first sign-in to the replay of a webhook; then
// every screen is inspected by axe, at a desk and on a phone, in light and dark.
// Usage: HUB=http://… OPERATOR_TOKEN=… NODE_PATH=FOLDER/node_modules node story.mjs
// With SCREENSHOTS=FOLDER it leaves a picture of every screen there.
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import assert from 'node:assert/strict';
import { DESK, PHONE, Person, launch } from './person.mjs';

const { HUB: hub, OPERATOR_TOKEN: token, SCREENSHOTS: pictures } = process.env;
if (hub === undefined || token === undefined) throw new Error('HUB and OPERATOR_TOKEN are needed');

async function api(method, path, key, body) {
  const answer = await fetch(hub + path, { method, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

const register = (name) => api('POST', '/agents', 'none', { name });

/** A receiver of webhooks that refuses the first two attempts. */
async function receiver() {
  const received = [];
  const server = createServer((request, answer) => {
    request.resume().on('end', () => {
      received.push(request.headers['webhook-id']);
      const refuses = received.length <= 2;
      answer.writeHead(refuses ? 503 : 200, { 'content-type': 'text/html' });
      answer.end(refuses ? '<script>alert("from the receiver")</script>' : 'ok');
    });
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return { received, url: `http://127.0.0.1:${server.address().port}/hook`, close: () => server.close() };
}

const steps = [];
/** One part of the story. Later parts need the earlier ones. */
const step = (name, run) => steps.push([name, run]);
const story = {};

step('the operator signs in with a one-time link, once', async () => {
  const { operator } = story;
  const link = await api('POST', '/admin/setup-link', token);
  await operator.go(link.path);
  assert.equal(await operator.page.getByLabel('Code').inputValue(), link.code);
  assert.ok(!operator.page.url().includes(link.code), 'the code leaves the address bar');
  await operator.button('Sign in as operator').click();
  await operator.page.waitForURL('**/app/admin');
  operator.base = '/app/admin';
  await operator.page.getByRole('heading', { name: 'Overview' }).waitFor();
});

step('two owners sign in; one adds an agent and waits for its sign of life', async () => {
  const { ada, bob } = story;
  story.keys = { ada: (await register('ada')).apiKey, bob: (await register('bob')).apiKey };
  await ada.signIn(story.keys.ada);
  await bob.signIn(story.keys.bob);
  await ada.at('/agents/add');
  const { page } = ada;
  await page.getByLabel('Name').fill('carol');
  await page.getByRole('button', { name: /Register/ }).click();
  story.keys.carol = (await page.locator('#new-key').textContent()).trim();
  assert.match(story.keys.carol, /^tdm_/);
  await api('GET', '/agents/me', story.keys.carol);
  await page.locator('.switcher > summary').click();
  await page.getByRole('link', { name: 'ada', exact: true }).first().click();
  await page.waitForURL(`**${ada.base}`);
});

step('they pair, and the page that waits notices it', async () => {
  const { ada, bob } = story;
  await ada.at('/agents/pair');
  await ada.button('Make a code').click();
  const code = (await ada.page.locator('#pair-code').textContent()).trim();
  assert.match(code, /^[A-Z]+-[A-Z]+-\d{4}$/);
  await ada.page.locator('#live[data-state=live]').waitFor();
  await bob.at('/agents/pair');
  await bob.page.getByLabel('Code', { exact: true }).fill(code.toLowerCase());
  await bob.button('Pair').click();
  await bob.page.getByRole('heading', { name: 'ada is connected' }).waitFor();
  await ada.page.getByRole('heading', { name: 'bob is connected' }).waitFor();
  const { code: second } = await api('POST', '/pair/generate', story.keys.ada);
  await api('POST', '/pair/connect', story.keys.carol, { code: second });
});

step('bob wants to be asked first', async () => {
  const { bob } = story;
  await bob.at('/profile');
  await bob.page.getByLabel('When somebody sends a task').selectOption('require');
  await bob.button('Save').click();
  await bob.page.getByText('Saved.').waitFor();
});

async function send(title, more = {}) {
  const { ada } = story;
  await ada.at('/new-task');
  const { page } = ada;
  await page.getByLabel('To', { exact: true }).selectOption({ label: 'bob' });
  await page.getByLabel('Title', { exact: true }).fill(title);
  await page.getByLabel('Description', { exact: true }).fill(more.description ?? 'Please have a look.');
  if (more.ttl) await page.getByLabel('Expires after').fill(more.ttl);
  if (more.review) await page.getByLabel(/accept the result myself/).check();
  await ada.button('Send task').click();
  await page.waitForURL(/\/tasks\/task_/);
  return new URL(page.url()).pathname.split('/').pop();
}

step('ada sends a task; bob is told and approves it on the phone', async () => {
  const { ada, bob } = story;
  await bob.at();
  await bob.page.locator('#live[data-state=live]').waitFor();
  story.task = await send('Review the *API*', { review: true,
    description: 'Compare **v2** with v3.\n\n<img src=x onerror=alert(1)> ![pixel](https://evil.example/p.png)' });
  await bob.page.getByText('Review the *API*').first().waitFor();
  await bob.page.getByRole('link', { name: /Approvals/ }).last().click();
  await bob.page.getByText('Compare v2 with v3.').waitFor();
  assert.equal(await bob.page.locator('.foreign img').count(), 0);
  await bob.page.getByRole('button', { name: /^Approve/ }).first().click();
  await bob.page.getByText(/Approved/).first().waitFor();
  await ada.page.getByText('Submitted').first().waitFor();
});

step('bob answers, and ada accepts', async () => {
  const { ada, bob } = story;
  await bob.at(`/tasks/${story.task}`);
  await bob.page.getByLabel('Message', { exact: true }).fill('Is it urgent?');
  await bob.button('Send').click();
  await ada.page.getByText('Is it urgent?').waitFor();
  await bob.page.locator('#ask-reply > summary').click();
  await bob.page.getByLabel('Result').fill('Three breaking changes.');
  await bob.page.locator('#ask-reply form button[type=submit]').click();
  await ada.page.getByText('Three breaking changes.').first().waitFor();
  await ada.page.getByRole('button', { name: /Accept/ }).first().click();
  await ada.page.getByText('Completed').first().waitFor();
  await bob.page.getByText('Completed').first().waitFor();
});

step('a task expires before their eyes, and is sent again', async () => {
  const { ada } = story;
  story.late = await send('Nobody takes this', { ttl: '2s' });
  await ada.page.getByText('Expired').first().waitFor();
  await ada.page.getByRole('button', { name: /^Retry/ }).click();
  await ada.page.getByText(/new attempt/).first().waitFor();
});

step('it is reassigned to another agent', async () => {
  const { ada } = story;
  const task = await send('For somebody else');
  await ada.page.locator('#ask-reassign > summary').click();
  const carol = await api('GET', '/agents/me', story.keys.carol);
  await ada.page.locator('select[name=targetAgentId]').selectOption(carol.id);
  await ada.page.getByRole('button', { name: /^Reassign/ }).last().click();
  await ada.page.getByText(/Reassigned/).first().waitFor();
  assert.equal((await api('GET', `/tasks/${task}`, story.keys.carol)).title, 'For somebody else');
});

step('two people decide at once: the second is told', async () => {
  const { bob } = story;
  const task = await send('Both decide');
  await bob.at(`/approvals?task=${task}`);
  await bob.page.getByText('Both decide').first().waitFor();
  await api('POST', `/tasks/${task}/approve`, story.keys.bob);
  bob.allowed = [/status of 4(09|12)/];
  await bob.page.locator(`#approval-${task}`).getByRole('button', { name: /^Approve/ }).click();
  await bob.page.locator('#late').waitFor();
  bob.allowed = [];
});

step('on a phone one request fills the screen, and its buttons stay where they are', async () => {
  const { bob } = story;
  const [first, second] = [await send('First of two'), await send('Second of two', { description: 'word '.repeat(600) })];
  await bob.at(`/approvals?task=${second}`);
  const { page } = bob;
  const card = page.locator('.approval:visible');
  assert.equal(await card.count(), 1);
  assert.equal(await card.getAttribute('id'), `approval-${second}`);
  const approve = card.getByRole('button', { name: /^Approve/ });
  const place = async () => JSON.stringify(await approve.boundingBox());
  const before = await place();
  const { y, height } = await approve.boundingBox();
  const bar = await page.locator('.bottom').boundingBox();
  assert.ok(y + height <= bar.y, 'above the bottom bar');
  // The words end above the buttons when the page is scrolled to its end.
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  const words = await card.locator('div.foreign').boundingBox();
  const decide = await card.locator('.decide').boundingBox();
  assert.ok(words.y + words.height <= decide.y, 'nothing lies under the buttons');
  assert.equal(await place(), before);
  await card.locator('.fact-line > summary').click();
  await card.locator('.facts').waitFor();
  assert.equal(await place(), before);
  await card.locator('.fact-line > summary').click();
  await card.locator('.reject > summary').click();
  await card.getByLabel('Reason').fill('Which clients?');
  await card.locator('.reject form').getByRole('button', { name: 'Reject this task' }).click();
  await page.waitForURL(/task=/);
  const next = page.locator('.approval:visible');
  await next.waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), await next.getAttribute('id'), 'the next card has the focus');
  assert.equal((await api('GET', `/tasks/${second}`, story.keys.bob)).statusReason, 'Which clients?');
  await bob.at('/approvals/decided');
  await page.getByText('Which clients?').waitFor();
  await bob.at(`/approvals?task=${first}`);
  await page.locator(`#note-${first} > summary`).click();
  await page.getByLabel(/Your words for/).fill('Only staging');
  await page.getByRole('button', { name: 'Approve with this note' }).click();
  await page.getByText(/Approved/).first().waitFor();
  assert.equal((await api('GET', `/tasks/${first}`, story.keys.bob)).approvalNote, 'Only staging');
});

step('the palette opens what was looked for', async () => {
  const { ada } = story;
  await ada.at();
  const { page } = ada;
  await page.locator('#live[data-state=live]').waitFor();
  await page.keyboard.press('Control+k');
  await page.locator('dialog.palette input').fill('both decide');
  await page.locator('dialog.palette').getByRole('link', { name: 'Both decide', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog.palette').waitFor({ state: 'detached' });
});

step('a network gets a broadcast', async () => {
  const { ada, bob } = story;
  await ada.at('/networks');
  await ada.page.getByLabel('Name').fill('Reviewers');
  await ada.page.getByRole('button', { name: /^(Create|Make)/ }).click();
  await ada.page.waitForURL(/\/networks\/net_/);
  await ada.page.getByRole('button', { name: /Invit|invit|code/ }).first().click();
  const code = (await ada.page.locator('#invitation').textContent()).trim();
  await bob.at('/networks');
  await bob.page.getByLabel('Invitation code').fill(code);
  await bob.button('Join').click();
  await bob.page.waitForURL(/\/networks\/net_/);
  await ada.page.getByLabel('Broadcast to all members').fill('Freeze at <b>18:00</b>');
  await ada.page.getByRole('button', { name: /^(Send|Broadcast)/ }).click();
  await bob.page.getByText('Freeze at <b>18:00</b>').waitFor();
});

step('a webhook fails, and its delivery is replayed', async () => {
  const { bob } = story;
  const hook = await receiver();
  await bob.at('/webhooks');
  await bob.page.getByLabel('URL').fill(hook.url);
  await bob.page.getByLabel('Secret').fill('a-secret-of-some-length');
  await bob.button('Save').click();
  await bob.button('Send ping').click();
  await bob.page.getByText('503').first().waitFor();
  await bob.page.locator('tr a.open-row').last().click();
  await bob.page.getByText('from the receiver').waitFor();
  await bob.page.getByRole('button', { name: /^Replay/ }).last().click();
  await bob.page.getByText('200').first().waitFor();
  assert.ok(hook.received.length >= 3);
  hook.close();
});

step('the live tail shows an event, pauses, and goes on', async () => {
  const { ada, bob } = story;
  await bob.at('/events');
  await bob.page.locator('#live[data-state=live]').waitFor();
  const first = await bob.page.locator('#tail tr').count();
  await send('Shown in the tail');
  await bob.page.waitForFunction((before) => document.querySelectorAll('#tail tr').length > before, first);
  await bob.page.locator('#tail-pause').click();
  await send('Waits behind the button');
  await bob.page.locator('#tail-newer').click();
  await ada.at();
});

step('hostile words stay words', async () => {
  const hostile = '"><script>alert(1)</script><img src=x onerror=alert(2)>';
  const { apiKey, id } = await register(hostile.slice(0, 64));
  const { code } = await api('POST', '/pair/generate', story.keys.bob);
  await api('POST', '/pair/connect', apiKey, { code });
  await api('PATCH', '/agents/me', apiKey, { description: hostile });
  const bob = await api('GET', '/agents/me', story.keys.bob);
  const task = await api('POST', '/tasks', apiKey, { targetAgentId: bob.id, title: hostile, description: hostile });
  await api('POST', `/tasks/${task.id}/approve`, story.keys.bob);
  await api('POST', `/tasks/${task.id}/messages`, apiKey, { content: `${hostile} [x](javascript:alert(3))` });
  await api('POST', `/tasks/${task.id}/files/json`, apiKey, { filename: `${hostile}.txt`, mimeType: 'text/plain',
    base64Content: 'YQ==' });
  story.hostile = { task: task.id, agent: id };
});

step('without JavaScript, everything can still be done', async () => {
  const plain = await Person.open(story.browser, hub, 'no script', { ...PHONE, javaScriptEnabled: false });
  await plain.signIn(story.keys.bob);
  const task = await send('Without a script');
  await plain.at(`/approvals?task=${task}`);
  await plain.page.locator(`#approval-${task}`).getByRole('button', { name: /^Approve/ }).click();
  await plain.page.getByText(/Approved/).first().waitFor();
  assert.equal((await api('GET', `/tasks/${task}`, story.keys.bob)).approvalStatus, 'approved');
  story.problems.push(...plain.problems);
  await plain.context.close();
});

const SCREENS = {
  bob: ['', '/figures', '/approvals', '/approvals/decided', '/search?q=both', '/tasks', '/tasks?view=board', '/new-task', '/tasks/HOSTILE', '/agents', '/agents/pair',
    '/agents/add', '/agents/discover', '/networks', '/events', '/webhooks', '/profile'],
  operator: ['', '/agents', '/tasks', '/events', '/deliveries', '/settings', '/storage'],
};

step('every screen passes axe, at a desk and on a phone, in light and dark', async () => {
  for (const [who, screens] of Object.entries(SCREENS)) {
    for (const [size, options] of [['desk', DESK], ['phone', PHONE]]) {
      const person = await Person.open(story.browser, hub, `${who} ${size}`, options);
      await person.signIn(who === 'operator' ? token : story.keys[who]);
      for (const path of screens) {
        await person.at(path.replace('HOSTILE', story.hostile.task));
        const name = `${who}${path.replace(/[^a-z]+/g, '-').replace('-view', '')}` || who;
        for (const scheme of ['light', 'dark']) {
          await person.inspect(name, scheme);
          if (pictures !== undefined) await person.page.screenshot({ path: `${pictures}/${name}-${size}-${scheme}.png` });
        }
      }
      story.problems.push(...person.problems);
      await person.context.close();
    }
  }
  const door = await Person.open(story.browser, hub, 'door', PHONE);
  for (const path of ['/app/sign-in', '/setup', '/pair']) {
    await door.go(path);
    for (const scheme of ['light', 'dark']) await door.inspect(path, scheme);
    if (pictures !== undefined) await door.page.screenshot({ path: `${pictures}/${path.split('/').pop()}-phone-dark.png` });
  }
  story.problems.push(...door.problems);
});

if (pictures !== undefined) {
  // The README shows these: pages of ada, who knows nobody with a hostile name.
  step('pictures for the README', async () => {
    for (const [name, path, scheme] of [['home', '', 'light'], ['task', `/tasks/${story.task}`, 'light'],
      ['board', '/tasks?view=board', 'dark'], ['agents', '/agents', 'dark']]) {
      await story.ada.page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await story.ada.at(path);
      await story.ada.page.locator('#live[data-state=live]').waitFor();
      await story.ada.page.screenshot({ path: `${pictures}/readme-${name}.png` });
    }
  });
  mkdirSync(pictures, { recursive: true });
}
story.browser = await launch();
story.problems = [];
story.operator = await Person.open(story.browser, hub, 'operator', DESK);
story.ada = await Person.open(story.browser, hub, 'ada', DESK);
story.bob = await Person.open(story.browser, hub, 'bob', PHONE);
let passed = 0;
for (const [name, run] of steps) {
  const started = Date.now();
  try {
    await run();
  } catch (cause) {
    const at = [story.ada, story.bob].map((person) => `${person.name} at ${person.page.url()}`).join(', ');
    story.problems.push(`${cause.stack}\n  (${at})`);
  }
  const problems = [story.problems, story.operator.problems, story.ada.problems, story.bob.problems]
    .flatMap((list) => list.splice(0));
  console.log(`${problems.length ? 'FAILED' : 'ok    '} ${name} (${Date.now() - started} ms)`);
  for (const problem of problems) console.log(`       ${problem.replaceAll('\n', '\n       ')}`);
  passed += problems.length === 0 ? 1 : 0;
  // What follows builds on this.
  if (problems.length > 0 && process.env.GO_ON === undefined) break;
}
await story.browser.close();
console.log(`${passed} passed, ${steps.length - passed} failed`);
// A receiver of a failed step may still listen.
process.exit(passed === steps.length ? 0 : 1);
