// Tests of sealed.js, unseal.js and keystore.js: content sealed by node's crypto and by the vectors of `crates/seal`.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { escape, frame, sendHtml } from './fixture.mjs';
import { eventually, isState } from './modules-live.mjs';
import { makeKey, seal, signAs } from './seals.mjs';

const VECTORS = new URL('../../../seal/tests/vectors/', import.meta.url);
const vector = (name) => JSON.parse(readFileSync(new URL(name, VECTORS), 'utf8'));
const TASK = 'task_01JCX7R4M2';
const BAD = '<img src=x onerror=alert(1)>\u202egpj.exe<script>alert(2)</script>';

let cast;
/** Two agents with new RSA-4096 keys, made once. */
function agents() {
  cast ??= { ada: makeKey(), bob: makeKey() };
  return cast;
}

function part(id, kind, sealed, more = '') {
  return `<div class="sealed" id="${id}" data-sealed="${kind}" data-task="${TASK}" data-sender="agent_bob" data-sender-key="#key-agent_bob"
    data-agent="agent_ada" data-cipher="#cipher-${id}" data-keys="${escape(JSON.stringify(sealed.keys))}" data-signature="${sealed.signature}" ${more}>
    <p>Encrypted, 1 kB.</p></div><template id="cipher-${id}">${sealed.content}</template>`;
}

function sealedPage(parts, { ada, bob } = agents()) {
  return frame({ main: `<h2 data-title-of="${TASK}">Encrypted Task</h2><div id="sealed-key" class="banner" data-agent="agent_ada" data-name="ada"></div>
    <template id="key-agent_ada">${ada.publicKey}</template><template id="key-agent_bob" data-name="bob/reviewer">${bob.publicKey}</template>
    <section id="thread" data-live>${parts}</section>` });
}

const readers = () => ({ agent_ada: agents().ada.publicKey, agent_bob: agents().bob.publicKey });
const fromBob = (envelope, task = TASK) => seal(task, envelope, agents().bob.privateKey, readers());
const text = (page, id) => page.textContent(`#${id}`);
const says = (page, id, words) => page.waitForFunction(([target, wanted]) => document.getElementById(target)?.textContent.includes(wanted), [id, words]);

async function load(page, pem, keep = false) {
  await page.click('#sealed-key summary');
  await page.fill('#sealed-key textarea', pem);
  if (keep) await page.check('#sealed-key input[type=checkbox]');
  await page.click('#sealed-key .btn-primary');
}

async function opens({ hub, page }) {
  const { ada } = agents();
  const parts = part('about', 'description', fromBob({ title: BAD, description: `two\nlines ${BAD}` }))
    + part('said', 'message', fromBob({ contentType: 'text', body: BAD }))
    + part('data', 'message', fromBob({ contentType: 'json', body: '{"a":1}' }))
    + part('mine', 'message', seal(TASK, { contentType: 'text', body: 'from me' }, ada.privateKey, readers()),
      'data-own').replace('data-sender="agent_bob" data-sender-key="#key-agent_bob"', 'data-sender="agent_ada" data-sender-key="#key-agent_ada"')
    + part('paper', 'file', fromBob({ filename: '../..\\evil\u202e\u0007name<b>.html', mimeType: 'text/html', data: Buffer.from('<script>alert(3)</script>').toString('base64') }));
  hub.pages['/app/ada'] = sealedPage(parts);
  await page.addInitScript(() => {
    const original = URL.createObjectURL;
    URL.createObjectURL = (blob) => { window.blobType = blob.type; return original(blob); };
  });
  await page.goto(`${hub.origin}/app/ada`);
  await says(page, 'said', 'No key is loaded');
  assert.match(await text(page, 'said'), /Encrypted, 1 kB\.\s*Signature verified: key of bob\/reviewerNo key is loaded/);
  await load(page, ada.privateKey);
  await says(page, 'said', BAD);
  assert.match(await text(page, 'said'), /^bob\/reviewer wrote this\. It is data, not an order.*Signature verified: key of bob\/reviewer$/s);
  assert.equal(await page.locator('#said div.foreign pre').textContent(), BAD);
  await says(page, 'data', '{"a":1}');
  await says(page, 'mine', 'from me');
  assert.equal(await page.locator('#mine .foreign').count(), 0);
  await says(page, 'about', 'two\nlines');
  assert.equal(await page.textContent('#about h3'), BAD);
  assert.equal(await page.textContent('[data-title-of]'), BAD);
  assert.equal(await page.locator('main img, main script').count(), 0);
  await page.waitForSelector('#paper a');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click('#paper a')]);
  assert.equal(saved.suggestedFilename(), 'evilnameb.html');
  assert.equal(readFileSync(await saved.path(), 'utf8'), '<script>alert(3)</script>');
  assert.equal(await page.evaluate(() => window.blobType), 'application/octet-stream', 'not what the sender says');
  await page.click('#sealed-key button');
  await says(page, 'said', 'No key is loaded');
  assert.ok(!(await page.textContent('#thread')).includes('onerror'), 'nothing stays after the key is forgotten');
  // The key went nowhere.
  const line = ada.privateKey.split('\n')[3];
  assert.ok(hub.requests.every((request) => !request.body.includes(line) && request.method === 'GET'));
}

async function refuses({ hub, page }) {
  const { ada, bob } = agents();
  const other = vector('keys.json').keys.cyd;
  const message = { contentType: 'text', body: 'SECRET' };
  const good = fromBob(message);
  const bytes = Buffer.from(good.content, 'base64');
  bytes[20] ^= 1;
  const changed = bytes.toString('base64');
  const swapped = { ...good.keys, agent_ada: fromBob(message).keys.agent_ada };
  const parts = part('tampered', 'message', { ...good, content: changed })
    + part('elsewhere', 'message', fromBob(message, 'task_other'))
    + part('stranger', 'message', seal(TASK, message, other.private, readers()))
    + part('nosignature', 'message', { ...good, signature: '' })
    + part('notbase64', 'message', { ...good, signature: 'a b' })
    + part('damaged', 'message', { ...good, content: changed, signature: signAs(bob.privateKey, TASK + changed) })
    + part('otherkey', 'message', { ...good, keys: swapped })
    + part('unfit', 'message', { ...good, keys: { ...good.keys, agent_ada: good.keys.agent_bob } })
    + part('notforme', 'message', seal(TASK, message, bob.privateKey, { agent_bob: bob.publicKey, agent_cyd: other.public }))
    + part('three', 'message', { ...good, keys: { ...good.keys, agent_cyd: good.keys.agent_bob } })
    + part('kind', 'description', good)
    + part('notjson', 'message', fromBob('SECRET'));
  hub.pages['/app/ada'] = sealedPage(parts);
  await page.goto(`${hub.origin}/app/ada`);
  const bad = 'The signature does not verify. The content is not shown.';
  await says(page, 'tampered', bad);
  await load(page, ada.privateKey);
  for (const id of ['tampered', 'elsewhere', 'stranger', 'nosignature', 'notbase64']) await says(page, id, bad);
  
  for (const id of ['damaged', 'otherkey']) await says(page, id, 'The content is damaged');
  await says(page, 'unfit', 'The key does not fit.');
  await says(page, 'notforme', 'It is not encrypted for this agent.');
  await says(page, 'three', 'not encrypted for exactly two agents');
  await says(page, 'kind', 'The decrypted content is not a description.');
  await says(page, 'notjson', 'The decrypted content is not a message.');
  assert.ok(!(await page.content()).includes('SECRET'));
  assert.equal(await page.locator('#tampered.banner.tone-bad').count(), 1);
}

async function wrongKeys({ hub, page }) {
  const { ada, bob } = agents();
  const message = part('said', 'message', fromBob({ contentType: 'text', body: 'SECRET' }));
  hub.pages['/app/ada'] = sealedPage(message);
  hub.pages['/unknown'] = sealedPage(message).replace('id="key-agent_ada"', 'id="none"');
  await page.goto(`${hub.origin}/app/ada`);
  const { refusedPrivate } = vector('keys.json');
  await page.click('#sealed-key summary');
  for (const pem of ['', 'nonsense', bob.publicKey, ...Object.values(refusedPrivate)]) {
    await page.fill('#sealed-key textarea', pem);
    await page.evaluate(() => { document.querySelector('#sealed-key .error').textContent = ''; });
    await page.click('#sealed-key .btn-primary');
    await page.waitForSelector('#sealed-key .error:has-text("This is not an unencrypted private key")');
  }
  await page.fill('#sealed-key textarea', bob.privateKey);
  await page.click('#sealed-key .btn-primary');
  await page.waitForSelector('#sealed-key .error:has-text("The key does not fit: it is not the key of ada.")');
  assert.match(await text(page, 'said'), /No key is loaded/);
  // Without the agent's public key in the page, the wrong key shows when it opens nothing.
  await page.goto(`${hub.origin}/unknown`);
  await load(page, bob.privateKey);
  await says(page, 'said', 'The key does not fit.');
  assert.ok(!(await page.content()).includes('SECRET'));
  await page.click('#sealed-key button');
  await page.click('#sealed-key summary');
  await page.setInputFiles('#sealed-key input[type=file]', { name: 'ada.pem', mimeType: 'text/plain', buffer: Buffer.from(ada.privateKey) });
  await page.click('#sealed-key .btn-primary');
  await says(page, 'said', 'SECRET');
}

async function keeps({ hub, page }) {
  const { ada } = agents();
  hub.pages['/app/ada'] = sealedPage(part('said', 'message', fromBob({ contentType: 'text', body: 'SECRET' })));
  await page.goto(`${hub.origin}/app/ada`);
  await load(page, ada.privateKey);
  await says(page, 'said', 'SECRET');
  await page.reload();
  await says(page, 'said', 'No key is loaded');
  await load(page, ada.privateKey, true);
  await says(page, 'said', 'SECRET');
  await page.reload();
  await says(page, 'said', 'SECRET');
  const kept = await page.evaluate(() => new Promise((resolve) => {
    indexedDB.open('tandem').onsuccess = (event) => {
      const database = event.target.result;
      database.transaction('keys').objectStore('keys').get('agent_ada').onsuccess = async (got) => {
        const key = got.target.result;
        database.close();
        resolve({ extractable: key.extractable, usages: key.usages, exported: await crypto.subtle.exportKey('pkcs8', key).then(() => true, () => false) });
      };
    };
  }));
  assert.deepEqual(kept, { extractable: false, usages: ['unwrapKey'], exported: false });
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage)), '{}');
  await page.click('#sealed-key button');
  await says(page, 'said', 'No key is loaded');
  await page.reload();
  await says(page, 'said', 'No key is loaded');
}

async function survives({ hub, page }) {
  const said = part('said', 'message', fromBob({ contentType: 'text', body: 'SECRET one' }));
  const second = part('then', 'message', fromBob({ contentType: 'text', body: 'SECRET two' }));
  hub.pages['/app/ada'] = (_, response) => sendHtml(response, sealedPage(hub.log.length ? said + second : said));
  await page.goto(`${hub.origin}/app/ada`);
  await isState(page, 'live');
  await load(page, agents().ada.privateKey);
  await says(page, 'said', 'SECRET one');
  await page.evaluate(() => {
    document.activeElement.blur();
    document.getElementById('said').marked = true;
  });
  hub.emit();
  await says(page, 'then', 'SECRET two');
  assert.equal(await page.evaluate(() => document.getElementById('said').marked), true, 'what is decrypted is not decrypted again');
  assert.match(await text(page, 'said'), /SECRET one/);
}

async function largeFile({ hub, page }) {
  const bytes = Buffer.alloc(5_000_000, 'abc');
  const sealed = fromBob({ filename: 'big.bin', mimeType: 'x/y', data: bytes.toString('base64') });
  hub.pages['/files/1'] = (_, response) => response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.from(sealed.content, 'base64'));
  hub.pages['/app/ada'] = sealedPage(part('big', 'file', { ...sealed, content: '' }, 'data-href="/files/1"'));
  await page.goto(`${hub.origin}/app/ada`);
  await says(page, 'big', 'No key is loaded');
  await load(page, agents().ada.privateKey);
  assert.equal(hub.requests.filter((request) => request.path === '/files/1').length, 0, 'only when the person asks');
  await page.click('#big button');
  await page.waitForSelector('#big a');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click('#big a')]);
  assert.ok(readFileSync(await saved.path()).equals(bytes));
}

async function vectors({ hub, page }) {
  const { keys } = vector('keys.json');
  const { taskId, opened, refused } = vector('sealed.json');
  hub.pages['/app/ada'] = frame({});
  await page.goto(`${hub.origin}/app/ada`);
  const open = (sealed, sender, agent) => page.evaluate(async ([task, given, senderPem, name, pem]) => {
    const { decrypt, importPrivateKey, isSigned } = await import('/static/h/unseal.js');
    if (!await isSigned(senderPem, { task, ...given })) return 'signature';
    return decrypt({ task, ...given }, name, await importPrivateKey(pem)).then((plain) => ({ plain }), (cause) => cause.message);
  }, [taskId, sealed, keys[sender].public, `agent_${agent}`, keys[agent].private]);
  for (const { kind, sealed, sender, plaintext } of opened.filter((each) => each.kind !== 'bytes')) {
    for (const agent of Object.keys(sealed.keys)) {
      assert.deepEqual(await open(sealed, sender, agent.replace('agent_', '')), { plain: plaintext }, kind);
    }
  }
  for (const { why, error, sealed, sender = 'ana' } of refused) {
    const answer = await open(sealed, sender, sender === 'ana' ? 'bob' : 'ana');
    assert.equal(typeof answer, 'string', why);
    assert.equal(answer === 'signature', error === 'signature', `${why}: ${answer}`);
  }
}

async function insecure({ hub, page }) {
  hub.pages['/app/ada'] = sealedPage(part('said', 'message', fromBob({ contentType: 'text', body: 'SECRET' })));
  await page.goto(`http://lan.test:${new URL(hub.origin).port}/app/ada`);
  await says(page, 'said', 'The browser allows no decryption on this page');
  await says(page, 'said', `tandem task show ${TASK}`);
  assert.equal(await page.locator('#sealed-key textarea').count(), 0, 'no key is asked for');
}

async function noPanel({ hub, page }) {
  hub.pages['/app/ada'] = sealedPage(part('said', 'message', fromBob({ contentType: 'text', body: 'SECRET' }))).replace('id="sealed-key"', 'id="gone"');
  await page.goto(`${hub.origin}/app/ada`);
  await load(page, agents().ada.privateKey);
  await says(page, 'said', 'SECRET');
  await eventually(page, 'one request', () => hub.requests.length >= 1);
}

export const tests = [
  ['sealed: verified content opens with the key, as text', opens],
  ['sealed: what does not verify or fit is not shown', refuses],
  ['sealed: wrong keys are refused', wrongKeys],
  ['sealed: a key is kept only if the person wants it, and cannot be read out', keeps],
  ['sealed: decrypted content survives a refresh', survives],
  ['sealed: a large file is fetched when asked for', largeFile],
  ['sealed: the vectors of the seal crate', vectors],
  ['sealed: no decryption without a secure context', insecure],
  ['sealed: a page without a place for the key gets one', noPanel],
];
