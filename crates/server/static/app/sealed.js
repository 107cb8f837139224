// Shows end-to-end encrypted content to a person who loads the agent's private key. The hub has no such key, and the key
// never leaves the browser. Nothing is shown unless the sender's signature verifies. All text is the peer's: it becomes
// text nodes only. `unseal.js` has the cryptography, `keystore.js` the keys.
import { all, button, element, forEachPart } from './dom.js';
import { forget, keyOf, recall, remember } from './keystore.js';
import { toast } from './toast.js';
import {
  Refusal, belongsTo, canDecrypt, cleanName, decrypt, fromBase64, importPrivateKey, isSigned, readEnvelope, toBase64,
} from './unseal.js';

/** @typedef {import('./unseal.js').Sealed} Sealed */

/** Far more than the largest key. */
const PEM_BYTES_MAX = 64 * 1024;

/** What the server put into an element, for when the key is forgotten. @type {WeakMap<HTMLElement, Node[]>} */
const original = new WeakMap();
/** The last run for an element. An older one that ends later shows nothing. @type {WeakMap<HTMLElement, symbol>} */
const runs = new WeakMap();
/** Files that are ready to be saved, to be released when the key is forgotten. @type {string[]} */
let blobs = [];

/** @param {string | undefined} selector */
function templateText(selector) {
  const found = selector ? document.querySelector(selector) : null;
  return found instanceof HTMLTemplateElement ? (found.content.textContent ?? '').trim() : '';
}

/** @param {HTMLElement} part */
function senderName(part) {
  const key = document.querySelector(part.dataset.senderKey ?? '#none');
  return (key instanceof HTMLElement && key.dataset.name) || part.dataset.senderName || part.dataset.sender || 'unknown';
}

/**
 * Verifies and decrypts one element, and says in it how that went.
 * @param {HTMLElement} part
 * @param {boolean} [isAsked] whether the person asked for this file
 */
async function open(part, isAsked = false) {
  const run = Symbol();
  runs.set(part, run);
  if (!original.has(part)) original.set(part, [...part.childNodes]);
  const show = (/** @type {string} */ state, /** @type {(Node | string)[]} */ ...children) => {
    if (runs.get(part) === run) put(part, state, children);
  };
  if (!canDecrypt()) return show('sealed', ...(original.get(part) ?? []), ...withoutCrypto(part));
  if (part.dataset.href && !isAsked) {
    const ask = button('Decrypt', () => void open(part, true));
    return show('sealed', ...(original.get(part) ?? []), keyOf(part.dataset.agent ?? '') ? ask : note('No key is loaded'));
  }
  try {
    const sealed = await read(part);
    if (!await isSigned(templateText(part.dataset.senderKey), sealed)) return show('banner tone-bad', ...badSignature());
    const proof = note(`Signature verified: key of ${senderName(part)}`, 'sealed-proof tone-good');
    const agent = part.dataset.agent ?? '';
    const key = keyOf(agent);
    if (!key) return show('sealed', ...(original.get(part) ?? []), proof, note('No key is loaded'));
    try {
      show('sealed-open', content(part, readEnvelope(part.dataset.sealed, await decrypt(sealed, agent, key))), proof);
    } catch (cause) {
      show('sealed', ...(original.get(part) ?? []), proof, note(why(cause)));
    }
  } catch (cause) {
    show('sealed', ...(original.get(part) ?? []), note(why(cause)));
  }
}

/** @param {unknown} cause */
function why(cause) {
  return cause instanceof Refusal ? cause.message : 'The content cannot be fetched. Try again later.';
}

/**
 * @param {HTMLElement} part
 * @param {string} state
 * @param {(Node | string)[]} children
 */
function put(part, state, children) {
  part.classList.remove('sealed', 'sealed-open', 'banner', 'tone-bad');
  part.classList.add(...state.split(' '));
  part.replaceChildren(...children);
}

/**
 * @param {string} text
 * @param {string} [style]
 */
function note(text, style = 'sealed-note') {
  return element('p', { class: style }, text);
}

function badSignature() {
  return [element('p', {}, element('strong', {}, 'The signature does not verify. The content is not shown.'),
    ' It was changed, or another key signed it. Do not act on it. Compare keys with the sender by another way.')];
}

/** @param {HTMLElement} part */
function withoutCrypto(part) {
  return [note('The browser allows no decryption on this page, because it does not come by HTTPS or from this computer. Read it with:'),
    element('code', {}, `tandem task show ${part.dataset.task ?? ''}`)];
}

/**
 * Collects what is sealed from the page; a large file from the hub.
 * @param {HTMLElement} part
 * @returns {Promise<Sealed>}
 */
async function read(part) {
  const { task = '', signature = '', keys = '{}', href, cipher } = part.dataset;
  let content = templateText(cipher);
  if (href) {
    const response = await fetch(href, { credentials: 'same-origin' });
    if (!response.ok || response.redirected) throw new Error('not fetched');
    content = toBase64(new Uint8Array(await response.arrayBuffer()));
  }
  fromBase64(signature);
  return { task, content, signature, keys: parseKeys(keys) };
}

/**
 * @param {string} text
 * @returns {Record<string, string>}
 */
function parseKeys(text) {
  try {
    return Object.assign({}, JSON.parse(text));
  } catch {
    throw new Refusal('The wrapped keys are damaged.');
  }
}

/**
 * The decrypted content, marked as foreign unless the agent itself wrote it.
 * @param {HTMLElement} part
 * @param {ReturnType<typeof readEnvelope>} envelope
 */
function content(part, envelope) {
  const block = element('div', { class: 'bubble' });
  if (part.dataset.own === undefined) {
    block.className = 'foreign';
    block.append(note(`${senderName(part)} wrote this. It is data, not an order to you or your agents.`, 'foreign-note'));
  }
  if ('bytes' in envelope) block.append(download(envelope));
  else if ('body' in envelope) block.append(element('pre', { class: 'text', dir: 'auto' }, envelope.body));
  else {
    block.append(element('h3', { dir: 'auto' }, envelope.title),
      element('pre', { class: 'text', dir: 'auto' }, envelope.description));
    for (const title of all(document, '[data-title-of]')) {
      if (title.dataset.titleOf === part.dataset.task) title.textContent = envelope.title;
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

/** @param {string} agent */
async function forgetKey(agent) {
  for (const blob of blobs) URL.revokeObjectURL(blob);
  blobs = [];
  await forget(agent).catch(() => toast('The browser could not delete the stored key. Clear the data of this site.'));
  openAll(document);
}

/** @param {ParentNode} root */
function openAll(root) {
  for (const part of all(root, '[data-sealed]')) void open(part);
  const panel = document.getElementById('sealed-key');
  if (panel && canDecrypt()) showPanel(panel);
}

/**
 * The place where the person loads or forgets the key.
 * @param {HTMLElement} panel
 */
function showPanel(panel) {
  const { agent = '', name = agent } = panel.dataset;
  const isLoaded = keyOf(agent) !== undefined;
  const words = element('div', {}, element('p', {}, element('strong', {}, 'End-to-end encrypted.'), isLoaded
    ? ` The key of ${name} is loaded. It stays in this browser.`
    : ` The hub stores what it cannot read. With the private key of ${name} you read it here. The key is never sent.`),
  element('p', {}, 'The code of this page comes from this hub. To trust no served code, use ',
    element('code', {}, 'tandem task show'), '.'));
  if (isLoaded) panel.replaceChildren(words, button('Forget key', () => void forgetKey(agent)));
  else panel.replaceChildren(words, keyForm(agent, name));
}

/**
 * Fields without a form and without names: there is nothing that a browser could send.
 * @param {string} agent
 * @param {string} name
 */
function keyForm(agent, name) {
  const file = element('input', { type: 'file', accept: '.pem,.key,.txt' });
  const text = element('textarea', { rows: '4', spellcheck: 'false', autocomplete: 'off' });
  const keep = element('input', { type: 'checkbox' });
  const error = element('p', { class: 'error', role: 'alert' });
  const load = async () => {
    error.textContent = '';
    const chosen = file.files?.[0];
    if (chosen && chosen.size > PEM_BYTES_MAX) throw new Refusal('This file is too long for a key.');
    await loadKey(agent, name, chosen ? await chosen.text() : text.value, keep.checked);
    file.value = text.value = '';
    openAll(document);
  };
  return element('details', { id: 'sealed-key-form' }, element('summary', { class: 'btn' }, 'Load key…'),
    element('label', { class: 'field' }, 'Key file, such as NAME.pem of the command line', file),
    element('label', { class: 'field' }, 'or its text', text),
    element('label', {}, keep, ' Keep in this browser'),
    button('Load key', () => void load().catch((cause) => { error.textContent = why(cause); }), 'btn btn-primary'), error);
}

/**
 * @param {string} agent
 * @param {string} name
 * @param {string} pem
 * @param {boolean} isKept
 */
async function loadKey(agent, name, pem, isKept) {
  const key = await importPrivateKey(pem);
  const own = templateText(`#key-${CSS.escape(agent)}`);
  if (own && !await belongsTo(key, own)) throw new Refusal(`The key does not fit: it is not the key of ${name}.`);
  await remember(agent, key, isKept)
    .catch(() => toast('The browser keeps no keys here. This one lasts until you leave the page.'));
}

/** @param {ParentNode} root */
async function prepare(root) {
  const parts = all(root, '[data-sealed]').filter((part) => !runs.has(part));
  const first = parts[0];
  if (first && !document.getElementById('sealed-key')) {
    const agent = first.dataset.agent ?? '';
    document.getElementById('main')?.prepend(element('div', { id: 'sealed-key', class: 'banner', 'data-agent': agent }));
  }
  const panel = document.getElementById('sealed-key');
  if (!panel || !canDecrypt()) return openAll(root);
  const agent = panel.dataset.agent ?? '';
  if (!keyOf(agent)) await recall(agent);
  if (panel.childElementCount === 0 || root === document) showPanel(panel);
  for (const part of parts) void open(part);
}

export function startSealed() {
  forEachPart((root) => void prepare(root));
}
