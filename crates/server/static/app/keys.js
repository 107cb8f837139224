// Keyboard shortcuts. They never decide anything: `a` and `r` only bring the person to the button, which is then
// pressed. A person can switch them off (WCAG 2.1.4); Ctrl+/ still shows the list.
//   [data-row]             a row or card that j and k move to
//   [data-key="a"|"r"]     in a row: what the key brings the person to, a button or a <details>
//   [data-keys-show]       a button that shows the list; without JavaScript it stays hidden
import { all, button, element, forEachPart, setting, store } from './dom.js';

const SEQUENCE_MS = 1500;

/** The second key after g, and how the address ends. @type {Record<string, string>} */
const PLACES = { a: '/approvals', t: '/tasks', e: '/events', w: '/webhooks' };

const LIST = [
  ['g h', 'Home'], ['g a', 'Approvals'], ['g t', 'Tasks'], ['g e', 'Events'], ['g w', 'Webhooks'],
  ['/', 'Search'], ['j', 'Next row'], ['k', 'Row before'], ['Enter', 'Open the row'],
  ['a', 'Go to the Approve button'], ['r', 'Open Reject'], ['?', 'This list'],
];

/** When g was pressed, if the next key belongs to it. */
let sequenceAt = 0;

function isOn() {
  return setting('keys') !== 'off';
}

/** @param {EventTarget | null} target */
function isField(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  if ((event.ctrlKey || event.metaKey) && event.key === '/') return done(event, toggleList);
  if (event.ctrlKey || event.metaKey || isField(event.target) || !isOn()) return;
  const isSecond = Date.now() - sequenceAt < SEQUENCE_MS;
  sequenceAt = 0;
  const act = isSecond ? placeFor(event.key) : actionFor(event.key);
  if (act) done(event, act);
}

/**
 * @param {KeyboardEvent} event
 * @param {() => void} act
 */
function done(event, act) {
  event.preventDefault();
  act();
}

/**
 * @param {string} key
 * @returns {(() => void) | undefined}
 */
function placeFor(key) {
  const end = PLACES[key];
  const links = all(document, '.rail a[href]');
  const found = key === 'h' ? links.find((link) => link.matches('.brand'))
    : links.find((link) => end !== undefined && link.getAttribute('href')?.endsWith(end));
  return found && (() => found.click());
}

/**
 * @param {string} key
 * @returns {(() => void) | undefined}
 */
function actionFor(key) {
  switch (key) {
    case 'g': return () => { sequenceAt = Date.now(); };
    case '/': return () => document.getElementById('search')?.focus();
    case '?': return toggleList;
    case 'j': return () => move(1);
    case 'k': return () => move(-1);
    case 'Enter': return openRow();
    case 'a':
    case 'r': return approach(key);
    default: return undefined;
  }
}

function rows() {
  return all(document, 'main :is([data-row], .table tbody tr, .tail tbody tr)').filter((row) => row.getClientRects().length > 0);
}

function currentRow() {
  return rows().find((row) => row.contains(document.activeElement));
}

/** @param {number} step */
function move(step) {
  const list = rows();
  const at = list.findIndex((row) => row.contains(document.activeElement));
  const row = list[at < 0 ? (step > 0 ? 0 : list.length - 1) : at + step];
  if (!row) return;
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: 'nearest' });
}

/** Enter on a row opens it. On a link or button in the row the browser does what it always does. */
function openRow() {
  const row = currentRow();
  if (!row || row !== document.activeElement) return undefined;
  const target = all(row, 'a[href], summary, button').find((part) => part !== row);
  return target && (() => target.click());
}

/**
 * Brings the person to a decision and never takes it.
 * @param {string} key
 */
function approach(key) {
  const row = currentRow() ?? rows().find((each) => each.querySelector(`[data-key="${key}"]`)) ?? document;
  const target = all(row, `[data-key="${key}"]`)[0];
  if (!target) return undefined;
  return () => {
    if (target instanceof HTMLDetailsElement) {
      target.open = true;
      (all(target, 'textarea, input:not([type="hidden"]), select')[0] ?? all(target, 'summary')[0])?.focus();
    } else target.focus();
  };
}

/** The list is a popover, which the browser closes by Escape or a press beside it. */
function makeList() {
  const box = element('input', { type: 'checkbox' });
  box.checked = isOn();
  box.addEventListener('change', () => store('keys', box.checked ? null : 'off'));
  const facts = element('dl', { class: 'kv' });
  for (const [keys, what] of LIST) {
    const caps = (keys ?? '').split(' ').flatMap((key) => [element('kbd', {}, key), ' ']);
    facts.append(element('dt', {}, ...caps), element('dd', {}, what ?? ''));
  }
  const made = element('div', { id: 'keys', class: 'card keys', popover: '', role: 'dialog', 'aria-label': 'Keyboard shortcuts' },
    element('h2', {}, 'Keyboard shortcuts'), facts,
    element('label', {}, box, ' Use single keys. Ctrl+/ shows this list even when they are off.'),
    button('Close', () => made.hidePopover()));
  document.body.append(made);
  return made;
}

function toggleList() {
  const list = document.getElementById('keys') ?? makeList();
  list.togglePopover();
  if (list.matches(':popover-open')) all(list, '.btn')[0]?.focus();
}

export function startKeys() {
  forEachPart((root) => {
    for (const shown of all(root, '[data-keys-show]')) shown.hidden = false;
  });
  document.addEventListener('keydown', press);
  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-keys-show]')) toggleList();
  });
}
