// Shows end-to-end encrypted content to a person who loads the agent's private key. The hub has no such key, and the key
// never leaves the browser. Nothing is shown unless the sender's signature verifies. All text is the peer's: it becomes
// text nodes only. `unseal.js` has the cryptography, `keystore.js` the keys.
import { all, button, byId, element, forEachPart } from './dom.js';
import { forget, keyOf, recall, remember } from './keystore.js';
import { toast } from './toast.js';
import {
  Refusal, belongsTo, canDecrypt, cleanName, decrypt, importPrivateKey, isSigned, readEnvelope, toBase64,
} from './unseal.js';

/** Far more than the largest key. */
const PEM_BYTES_MAX = 64 * 1024;

/** What the server put into an element. It stays there while the content is locked. @type {WeakMap<Element, Node[]>} */
const original = new WeakMap();
/** The last run for an element. An older one that ends later shows nothing. @type {WeakMap<Element, symbol>} */
const runs = new WeakMap();
/** Files that are ready to be saved, to be released when the key is forgotten. @type {string[]} */
let blobs = [];

/** @param {string | undefined} selector */
function template(selector) {
  const found = selector ? document.querySelector(selector) : null;
  return found instanceof HTMLTemplateElement ? found : null;
}

/** @param {string | undefined} selector */
const templateText = (selector) => template(selector)?.content.textContent?.trim() ?? '';

/** @param {HTMLElement} part */
const senderName = ({ dataset }) => template(dataset.senderKey)?.dataset.name ?? dataset.sender ?? 'unknown';

/** @param {string} text */
const note = (text, style = 'sealed-note') => element('p', { class: style }, text);

/** @param {unknown} cause */
const why = (cause) => cause instanceof Refusal ? cause.message : 'The content cannot be fetched. Try again later.';

/**
 * Verifies and decrypts one element, and says in it how that went.
 * @param {HTMLElement} part @param {boolean} [isAsked] whether the person asked for this file
 */
async function open(part, isAsked = false) {
  const run = Symbol();
  runs.set(part, run);
  if (!original.has(part)) original.set(part, [...part.childNodes]);
  const show = (/** @type {string} */ state, /** @type {Node[]} */ ...children) => {
    if (runs.get(part) !== run) return;
    part.classList.remove('sealed', 'sealed-open', 'banner', 'tone-bad');
    part.classList.add(...state.split(' '));
    part.replaceChildren(...children);
  };
  const lock = (/** @type {Node[]} */ ...notes) => show('sealed', ...original.get(part) ?? [], ...notes);
  const { task, agent = '', href, sealed: kind, senderKey } = part.dataset;
  const key = keyOf(agent);
  const noKey = note('No key is loaded');
  if (!canDecrypt()) {
    return lock(note('The browser allows no decryption on this page, because it comes neither by HTTPS nor from this computer. Read it with:'),
      element('code', {}, `tandem task show ${task}`));
  }
  // A file may be large: it is fetched when the person wants it.
  if (href && !isAsked) return lock(key ? button('Decrypt', () => open(part, true)) : noKey);
  /** @type {Node[]} */
  const proof = [];
  try {
    const sealed = await read(part);
    if (!await isSigned(templateText(senderKey), sealed)) return show('banner tone-bad', badSignature());
    proof.push(note(`Signature verified: key of ${senderName(part)}`, 'sealed-proof tone-good'));
    if (!key) return lock(...proof, noKey);
    show('sealed-open', content(part, readEnvelope(kind, await decrypt(sealed, agent, key))), ...proof);
  } catch (cause) {
    lock(...proof, note(why(cause)));
  }
}

function badSignature() {
  return element('p', {}, element('strong', {}, 'The signature does not verify. The content is not shown.'),
    ' It was changed, or another key signed it. Do not act on it. Compare keys with the sender by another way.');
}

/**
 * Collects what is sealed from the page; a file from the hub.
 * @param {HTMLElement} part @returns {Promise<import('./unseal.js').Sealed>}
 */
async function read(part) {
  const { task = '', signature = '', keys = '{}', href, cipher } = part.dataset;
  if (!href) return { task, content: templateText(cipher), signature, keys: JSON.parse(keys) };
  const response = await fetch(href, { credentials: 'same-origin' });
  if (!response.ok || response.redirected) throw new Error('not fetched');
  return { task, content: toBase64(new Uint8Array(await response.arrayBuffer())), signature, keys: JSON.parse(keys) };
}

/**
 * The decrypted content, marked as foreign unless the agent itself wrote it.
 * @param {HTMLElement} part @param {ReturnType<typeof readEnvelope>} envelope
 */
function content(part, envelope) {
  const block = element('div', { class: 'bubble' });
  if (part.dataset.own === undefined) {
    block.className = 'foreign';
    block.append(note(`${senderName(part)} wrote this. It is data, not an order to you or your agents.`, 'foreign-note'));
  }
  const text = (/** @type {string} */ body) => element('pre', { class: 'text', dir: 'auto' }, body);
  if ('bytes' in envelope) block.append(download(envelope));
  else if ('body' in envelope) block.append(text(envelope.body));
  else {
    block.append(element('h3', { dir: 'auto' }, envelope.title), text(envelope.description));
    for (const heading of all(document, '[data-title-of]')) {
      if (heading.dataset.titleOf === part.dataset.task) heading.textContent = envelope.title;
    }
  }
  return block;
}

/** @param {import('./unseal.js').SealedFile} file */
function download({ filename, bytes }) {
  // Never the sender's media type: a blob belongs to this page's origin, and must not open as a page.
  const href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  blobs.push(href);
  const name = cleanName(filename);
  return element('a', { class: 'file', href, download: name }, `Save ${name}`,
    element('span', { class: 'size' }, `${Math.ceil(bytes.length / 1024)} kB`));
}

/** Shows everything with the keys that are loaded now. */
function openAll() {
  for (const part of all(document, '[data-sealed]')) void open(part);
  showPanel();
}

/** @param {string} agent */
async function forgetKey(agent) {
  blobs.forEach(URL.revokeObjectURL);
  blobs = [];
  await forget(agent).catch(() => toast('The browser could not delete the key. Clear the data of this site.'));
  for (const heading of all(document, '[data-title-of]')) heading.textContent = 'Encrypted Task';
  openAll();
}

/** The place where the person loads or forgets the key. */
function showPanel() {
  const panel = byId('sealed-key');
  if (!panel || !canDecrypt()) return;
  const { agent = '', name = agent } = panel.dataset;
  const isLoaded = keyOf(agent) !== undefined;
  panel.replaceChildren(element('p', {}, element('strong', {}, 'End-to-end encrypted.'), isLoaded
    ? ` The key of ${name} is loaded. It stays in this browser.`
    : ` The hub stores what it cannot read. With the private key of ${name} you read it here. The key is never sent.`,
  ' The code of this page comes from this hub. To trust no served code, use ', element('code', {}, 'tandem task show'), '.'),
  isLoaded ? button('Forget key', () => forgetKey(agent)) : keyForm(agent, name));
}

/**
 * Fields without a form and without names: there is nothing that a browser could send.
 * @param {string} agent @param {string} name
 */
function keyForm(agent, name) {
  const file = element('input', { type: 'file', accept: '.pem,.key,.txt' });
  const text = element('textarea', { rows: '4', spellcheck: 'false', autocomplete: 'off' });
  const keep = element('input', { type: 'checkbox' });
  const error = element('p', { class: 'error', role: 'alert' });
  const load = async () => {
    const chosen = file.files?.[0];
    if (chosen && chosen.size > PEM_BYTES_MAX) throw new Refusal('This file is too long for a key.');
    await loadKey(agent, name, chosen ? await chosen.text() : text.value, keep.checked);
    openAll();
  };
  return element('details', { id: 'sealed-key-form' }, element('summary', { class: 'btn' }, 'Load key…'),
    element('label', { class: 'field' }, 'Key file, such as NAME.pem of the command line', file),
    element('label', { class: 'field' }, 'or its text', text),
    element('label', {}, keep, ' Keep in this browser'),
    button('Load key', () => load().catch((cause) => error.replaceChildren(why(cause))), 'btn btn-primary'), error);
}

/** @param {string} agent @param {string} name @param {string} pem @param {boolean} isKept */
async function loadKey(agent, name, pem, isKept) {
  const key = await importPrivateKey(pem);
  const own = templateText(`#key-${CSS.escape(agent)}`);
  if (own && !await belongsTo(key, own)) throw new Refusal(`The key does not fit: it is not the key of ${name}.`);
  await remember(agent, key, isKept).catch(() => toast('This browser keeps no keys. It lasts until you leave the page.'));
}

/** @param {ParentNode} root */
async function prepare(root) {
  const parts = all(root, '[data-sealed]').filter((part) => !runs.has(part));
  const agent = byId('sealed-key')?.dataset.agent ?? parts[0]?.dataset.agent;
  if (agent === undefined) return;
  if (!byId('sealed-key')) byId('main')?.prepend(element('div', { id: 'sealed-key', class: 'banner', 'data-agent': agent }));
  if (canDecrypt() && !keyOf(agent)) await recall(agent);
  if (!byId('sealed-key')?.firstElementChild) showPanel();
  for (const part of parts) void open(part);
}

export function startSealed() {
  forEachPart(prepare);
}
