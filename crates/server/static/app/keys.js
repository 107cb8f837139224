// Keyboard shortcuts. They never decide anything: `a` and `r` only bring the person to the button, which is then
// pressed. A person can switch them off (WCAG 2.1.4); Ctrl+/ still shows the list.
//   [data-row]             a row or card that j and k move to
//   [data-key="a"|"r"]     in a row: what the key brings the person to, a button or a <details>
//   [data-keys-show]       a button that shows the list
import { all, button, byId, element, onPress, setting, store } from './dom.js';
import { togglePalette } from './palette.js';

const SEQUENCE_MS = 1500;
const ROWS = 'main :is([data-row], .table tbody tr, .tail tbody tr)';

/** The second key after g, and what it finds in the navigation. @type {Record<string, string>} */
const PLACES = { h: '.brand', a: 'a[href$="/approvals"]', t: 'a[href$="/tasks"]', e: 'a[href$="/events"]', w: 'a[href$="/webhooks"]' };

const LIST = {
  'g h': 'Home', 'g a': 'Approvals', 'g t': 'Tasks', 'g e': 'Events', 'g w': 'Webhooks', '/': 'Search', 'Ctrl+K': 'Search everything', j: 'Next row',
  k: 'Row before', Enter: 'Open the row', a: 'Go to the Approve button', r: 'Open Reject', '?': 'This list',
};

/** When g was pressed, if the next key belongs to it. */
let sequenceAt = 0;

const isOn = () => setting('keys') !== 'off';

/** @param {KeyboardEvent} event */
function press(event) {
  const { key, target } = event;
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const isModified = event.ctrlKey || event.metaKey;
  const isField = target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
  /** @type {(() => void) | null | undefined} */
  let act = null;
  if (isModified) act = key === '/' ? toggleList : key === 'k' ? togglePalette : null;
  else if (!isField && isOn()) act = Date.now() - sequenceAt < SEQUENCE_MS ? placeFor(key) : actionFor(key);
  sequenceAt = 0;
  if (!act) return;
  event.preventDefault();
  act();
}

/** @param {string} key */
function placeFor(key) {
  const place = PLACES[key];
  const link = place && all(document, `.rail ${place}`)[0];
  return link ? () => link.click() : null;
}

/** @param {string} key @returns {(() => void) | null | undefined} */
function actionFor(key) {
  switch (key) {
    case 'g': return () => { sequenceAt = Date.now(); };
    case '/': return () => byId('search')?.focus();
    case '?': return toggleList;
    case 'j': return () => move(1);
    case 'k': return () => move(-1);
    case 'Enter': return openRow();
    case 'a':
    case 'r': return approach(key);
    default: return null;
  }
}

/** The rows that are visible, and the place of the one with the focus among them. */
function rows() {
  const list = all(document, ROWS).filter((row) => row.getClientRects().length > 0);
  return { list, at: list.findIndex((row) => row.contains(document.activeElement)) };
}

/** @param {number} step */
function move(step) {
  const { list, at } = rows();
  const row = list.at(at < 0 ? Math.min(step, 0) : Math.max(at + step, 0));
  if (!row || at + step >= list.length) return;
  row.tabIndex = -1;
  row.focus();
}

/** Enter on a row opens it. On a link or button in the row the browser does what it always does. */
function openRow() {
  const row = document.activeElement;
  const target = row?.matches(ROWS) ? all(row, 'a[href], summary, button')[0] : null;
  return target && (() => target.click());
}

/** Brings the person to a decision and never takes it. @param {string} key */
function approach(key) {
  const { list, at } = rows();
  const target = all(list[at] ?? document, `[data-key="${key}"]`)[0];
  return target && (() => {
    if (target instanceof HTMLDetailsElement) target.open = true;
    const field = all(target, 'textarea, select, input:not([type="hidden"])')[0];
    (field ?? all(target, 'summary, button')[0])?.focus();
  });
}

/** The list is a popover, which the browser closes by Escape or a press beside it. */
function makeList() {
  const box = element('input', { type: 'checkbox' });
  box.checked = isOn();
  box.addEventListener('change', () => store('keys', box.checked ? null : 'off'));
  const facts = element('dl', { class: 'kv' });
  for (const [keys, what] of Object.entries(LIST)) {
    facts.append(element('dt', {}, ...keys.split(' ').map((key) => element('kbd', {}, key))), element('dd', {}, what));
  }
  const made = element('div', { id: 'keys', class: 'card keys', popover: '', role: 'dialog', 'aria-label': 'Shortcuts' },
    element('h2', {}, 'Keyboard shortcuts'), facts,
    element('label', {}, box, ' Use single keys. Ctrl+/ shows this list even when they are off.'),
    button('Close', () => made.hidePopover()));
  document.body.append(made);
  return made;
}

function toggleList() {
  const list = byId('keys') ?? makeList();
  list.togglePopover();
  if (list.matches(':popover-open')) all(list, '.btn')[0]?.focus();
}

export function startKeys() {
  document.addEventListener('keydown', press);
  onPress('[data-keys-show]', toggleList);
}
