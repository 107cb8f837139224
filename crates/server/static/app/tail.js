// The live tail on the Events page: one row per event, newest first, no double and no gap. The row's markup is the
// server's (`<template id="tail-row">`); this module only fills its slots with text. Nothing here grows: at most 500
// rows stand in the table and at most 500 wait.
import { all, byId, element } from './dom.js';
import { clock } from './times.js';

/** @typedef {import('./live.js').Entry} Entry */

const ROWS_MAX = 500;
/** Rows are added in groups, so that a burst costs one layout. */
const GATHER_MS = 100;

/** @type {Record<string, string>} */
const TONES = { 'task.stalled': 'bad', 'message.no_ack': 'bad', 'task.approval_required': 'wait' };

/** @type {HTMLElement} */
let body;
/** @type {HTMLTemplateElement} */
let template;
/** The names of agents by id, as the server knows them. @type {Map<string, unknown>} */
let names = new Map();
/** The newest events that are not in the table yet, oldest first. @type {Entry[]} */
let waiting = [];
/** How many wait, including those that are no longer kept. */
let waitingCount = 0;
let last = 0;
let isPaused = false;
let timer = 0;

/** @param {Entry} entry */
function receive(entry) {
  if (entry.id <= last) return;
  // The numbers of an agent's log have no gap. The admin's view of all logs is sparse.
  if (entry.id > last + 1 && body.dataset.sparse === undefined) reportGap(last + 1, entry.id - 1);
  last = entry.id;
  if (!matches(entry)) return;
  waiting.push(entry);
  waitingCount += 1;
  // The oldest goes first: what is kept always joins the newest rows without a gap.
  if (waiting.length > ROWS_MAX) waiting.shift();
  timer ||= setTimeout(flush, GATHER_MS);
}

/** The filters of the address. The server applies them to stored rows, this to new ones. @param {Entry} entry */
function matches(entry) {
  const { filterType, filterTask, filterFrom, filterText } = body.dataset;
  // A list of types and of groups such as `task.*`.
  const fits = (/** @type {string} */ pattern) =>
    pattern.endsWith('*') ? entry.type.startsWith(pattern.slice(0, -1)) : entry.type === pattern;
  return (!filterType || filterType.split(/[\s,]+/).some(fits))
    && (!filterTask || entry.taskId === filterTask)
    && (!filterFrom || entry.fromAgentId === filterFrom)
    && (!filterText || JSON.stringify(entry).toLowerCase().includes(filterText.toLowerCase()));
}

/** Rows wait while paused, and while the reader looks at older rows, which must not move. */
function flush() {
  timer = 0;
  const box = body.closest('table')?.parentElement;
  const isScrolled = body.getBoundingClientRect().top < 0 || (box?.scrollTop ?? 0) > 0;
  if (isPaused || isScrolled) showWaiting();
  else addRows();
}

/** Puts everything that waits into the table. */
function addRows() {
  body.prepend(...waiting.reverse().map(row));
  const elementsMax = ROWS_MAX * template.content.childElementCount;
  while (body.childElementCount > elementsMax) body.lastElementChild?.remove();
  waiting = [];
  waitingCount = 0;
  showWaiting();
}

/** @param {Entry} entry */
function row(entry) {
  const made = document.importNode(template.content, true);
  made.firstElementChild?.setAttribute('data-cursor', String(entry.id));
  made.firstElementChild?.setAttribute('data-type', entry.type);
  for (const slot of all(made, '[data-slot]')) fill(slot, entry);
  return made;
}

/** @param {HTMLElement} slot @param {Entry} entry */
function fill(slot, entry) {
  const { id, type, taskId, createdAt, sentence } = entry;
  const tone = TONES[type];
  switch (slot.dataset.slot) {
    case 'time':
      slot.textContent = clock(new Date(createdAt), true);
      slot.title = createdAt;
      slot.setAttribute('datetime', createdAt);
      break;
    case 'cursor':
      slot.textContent = String(id);
      break;
    case 'type':
      slot.textContent = type;
      if (tone) slot.classList.add('tone', `tone-${tone}`);
      break;
    case 'task':
      slot.textContent = taskId ?? '–';
      // The template names the folder of the tasks.
      if (taskId) slot.setAttribute('href', (slot.dataset.base ?? '') + encodeURIComponent(taskId));
      break;
    case 'from':
      slot.textContent = sender(entry);
      if (!entry.fromAgentId) slot.classList.add('by', 'by-hub');
      break;
    case 'detail':
      slot.textContent = sentence ?? type;
      break;
    case 'json':
      slot.textContent = JSON.stringify(entry, null, 2);
  }
}

/** @param {Entry} entry */
function sender({ fromAgentId, data }) {
  return fromAgentId ? String(names.get(fromAgentId) ?? data['fromAgentName'] ?? fromAgentId) : 'the hub';
}

function showWaiting() {
  const newer = byId('tail-newer');
  if (!newer) return;
  newer.hidden = waitingCount === 0;
  const kept = waitingCount > ROWS_MAX ? `. The newest ${ROWS_MAX} are kept here: reload to see all` : '';
  label(newer, (waitingCount === 1 ? '1 newer event waits' : `${waitingCount} newer events wait`) + kept);
}

/** Writes the text of a button and leaves its icon. @param {HTMLElement} target @param {string} text */
function label(target, text) {
  (target.querySelector('[data-slot="label"]') ?? target).textContent = text;
}

/** @param {number} first @param {number} end */
function reportGap(first, end) {
  const range = first === end ? `Event ${first} is` : `Events ${first} to ${end} are`;
  byId('tail-note')?.remove();
  body.closest('table')?.before(element('p', { id: 'tail-note', class: 'banner tone-wait' },
    `${range} missing here: the stream started again with a gap. Reload to see what the hub still has.`));
}

/** @param {HTMLElement} pause */
function togglePause(pause) {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  label(pause, isPaused ? 'Resume' : 'Pause');
  flush();
}

function showNewer() {
  addRows();
  // The button goes; the focus must not go with it.
  byId('tail-pause')?.focus();
  body.closest('table')?.parentElement?.scrollTo(0, 0);
  scrollTo(0, 0);
}

export function startTail() {
  const [found, rowTemplate, pause] = [byId('tail'), byId('tail-row'), byId('tail-pause')];
  if (!found || !(rowTemplate instanceof HTMLTemplateElement)) return;
  [body, template] = [found, rowTemplate];
  last = Number(byId('live')?.dataset.cursor) || 0;
  names = new Map(Object.entries(JSON.parse(body.dataset.names ?? '{}')));
  document.addEventListener('tandem:event', (event) => receive(/** @type {CustomEvent<Entry>} */ (event).detail));
  if (pause) pause.hidden = false;
  pause?.addEventListener('click', () => togglePause(pause));
  byId('tail-newer')?.addEventListener('click', showNewer);
  document.addEventListener('scroll', () => {
    if (waitingCount > 0) timer ||= setTimeout(flush, GATHER_MS);
  }, { capture: true, passive: true });
}
