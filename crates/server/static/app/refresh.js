// Brings the page up to date: asks for the regions (`[data-live][id]`) of which the server has another version, and replaces
// them. It never takes anything from the person: a region with the focus, typed text, selected text or an open form waits.
// `live.js` decides when to refresh.
import { all, byId, element } from './dom.js';

const TIMEOUT_MS = 10_000;

/** @typedef {{ outcome: 'done' | 'dropped' | 'failed' | 'signed-out', held: number }} Refreshed */

/** The server's version of each region that the page shows, by id. @type {Map<string, string>} */
let versions = new Map();

/** @param {ParentNode} root */
const regions = (root) => [...root.querySelectorAll('[data-live][id]')];

/** @param {Document} root @returns {Map<string, string>} */
function versionsIn(root) {
  const found = root.getElementById('versions');
  const text = found instanceof HTMLTemplateElement ? found.content.textContent ?? '' : '';
  return new Map(text.split(',').filter(Boolean).map((one) => /** @type {[string, string]} */ (one.split('.'))));
}

export function rememberServed() {
  versions = versionsIn(document);
}

/** @type {AbortController | null} */
let current = null;

/** Drops the refresh that is under way. */
export function dropRefresh() {
  current?.abort();
  current = null;
}

/**
 * Fetches the page and applies it. A refresh that is still under way is dropped: its answer is older.
 * @returns {Promise<Refreshed>}
 */
export async function refresh() {
  dropRefresh();
  const mine = new AbortController();
  current = mine;
  const timer = setTimeout(() => mine.abort(), TIMEOUT_MS);
  const page = await fetchPage(mine.signal).catch(() => /** @type {const} */ ('failed'));
  clearTimeout(timer);
  if (current !== mine) return { outcome: 'dropped', held: 0 };
  current = null;
  return typeof page === 'string' ? { outcome: page, held: 0 } : { outcome: 'done', held: apply(page) };
}

/** @param {AbortSignal} signal @returns {Promise<Document | 'failed' | 'signed-out'>} */
async function fetchPage(signal) {
  const response = await fetch(byId('main')?.dataset.self ?? location.pathname + location.search, {
    headers: { 'X-Live': [...versions].map((one) => one.join('.')).join(',') || '1' },
    credentials: 'same-origin', cache: 'no-store', signal,
  });
  const isSignIn = response.redirected && new URL(response.url).pathname.endsWith('/sign-in');
  if (isSignIn || response.status === 401) return 'signed-out';
  if (response.status !== 200 || response.redirected) return 'failed';
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

/**
 * The answer has the regions that changed, or all of the page if its regions are others than before: then all of <main> is
 * replaced, because something appeared or went that no region covers.
 * @param {Document} fresh @returns {number} regions that changed but wait, because the person uses them
 */
function apply(fresh) {
  const now = versionsIn(fresh);
  const before = counts();
  let held = 0;
  const [main, whole] = [byId('main'), fresh.getElementById('main')];
  let isHeld = false;
  if (main && whole && !byId('tail')) {
    isHeld = isInUse(main, whole);
    if (isHeld) held += 1;
    else replace(main, whole);
  }
  for (const region of regions(fresh)) {
    const old = byId(region.id);
    // The region came in with one around it, or is the same.
    if (!old || region.ownerDocument !== fresh || versions.get(region.id) === now.get(region.id)) continue;
    if (isInUse(old, region)) {
      held += 1;
      // It is asked for again.
      now.set(region.id, versions.get(region.id) ?? '0');
    } else replace(old, region);
  }
  if (isHeld) for (const [id] of versions) versions.set(id, now.get(id) ?? '0');
  else versions = now;
  if (fresh.title) document.title = fresh.title;
  announce(before);
  return held;
}

/** @param {Element} old @param {Element} next */
function isInUse(old, next) {
  // What was typed into a refused form stands there as the server sent it.
  if (byId('main')?.dataset.refused !== undefined && all(old, '[role="alert"], form :is(input:not([type="hidden"]), select, textarea)').length) return true;
  if (document.activeElement !== document.body && old.contains(document.activeElement)) return true;
  if (all(old, 'input, textarea, select').some(isChanged)) return true;
  if (all(old, 'details[open]').some((details) => !sameId(next, details))) return true;
  const selection = getSelection();
  return selection?.type === 'Range' && selection.getRangeAt(0).intersectsNode(old);
}

/** Also what was typed into a form that was refused. @param {Element} field */
function isChanged(field) {
  if (field instanceof HTMLElement && field.dataset.typed !== undefined) return true;
  if (field instanceof HTMLSelectElement) {
    const options = [...field.options];
    const hasDefault = options.some((option) => option.defaultSelected);
    return hasDefault ? options.some((option) => option.selected !== option.defaultSelected) : field.selectedIndex > 0;
  }
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (!(field instanceof HTMLInputElement) || field.type === 'hidden') return false;
  return field.checked !== field.defaultChecked || field.value !== field.defaultValue;
}

/** @param {Element} root @param {Element} like */
const sameId = (root, like) => like.id ? all(root, `#${CSS.escape(like.id)}`)[0] : undefined;

/** @param {Element} old @param {Element} next */
function replace(old, next) {
  for (const details of all(old, 'details[id]')) sameId(next, details)?.toggleAttribute('open', details.hasAttribute('open'));
  keepDecrypted(old, next);
  const scrolled = all(old, '[id]').map((part) => ({ part, top: part.scrollTop, left: part.scrollLeft }));
  old.replaceWith(next);
  for (const { part, top, left } of scrolled) if (top || left) sameId(next, part)?.scrollTo({ top, left, behavior: 'instant' });
  next.dispatchEvent(new CustomEvent('tandem:fresh', { bubbles: true }));
}

/** Moves encrypted content over that did not change: what is decrypted stays so. @param {Element} old @param {Element} next */
function keepDecrypted(old, next) {
  const key = (/** @type {HTMLElement} */ part) => JSON.stringify({ ...part.dataset });
  const known = new Map(all(old, '[data-sealed]').map((part) => [key(part), part]));
  for (const part of all(next, '[data-sealed]')) {
    const same = known.get(key(part));
    if (same && part !== next) part.replaceWith(same);
  }
}

/** The counts in the navigation by label. */
function counts() {
  return new Map(all(document, '.rail .count[id]').map((count) =>
    [count.closest('a')?.querySelector('.label')?.textContent ?? '', (count.textContent ?? '').trim()]));
}

/** Tells screen readers which counts changed, in one sentence. @param {Map<string, string>} before */
function announce(before) {
  const news = [...counts()].filter(([label, count]) => before.get(label) !== count)
    .map(([label, count]) => `${label}: ${count || '0'}`);
  if (news.length === 0) return;
  if (!byId('announce')) document.body.append(element('p', { id: 'announce', class: 'sr', role: 'status' }));
  byId('announce')?.replaceChildren(news.join(', '));
}
