// The live tail on the Events page: one row per event, newest first, no double and no gap. The row's markup is the
// server's (`<template id="tail-row">`); this module only fills its slots with text. Nothing here grows: at most 500
// rows stand in the table and at most 500 wait.
import { all, element } from './dom.js';
import { clock } from './times.js';

/** @typedef {import('./live.js').Entry} Entry */

const ROWS_MAX = 500;
/** Rows are added in groups, so that a burst costs one layout. */
const GATHER_MS = 100;
const DETAIL_CHARS_MAX = 200;

/** Fields that have a column of their own. */
const SHOWN_ELSEWHERE = new Set(['type', 'taskId', 'fromAgentId', 'fromAgentName', 'cursor', 'withPublicKey']);
/** @type {Record<string, string>} */
const TONES = { 'task.stalled': 'bad', 'message.no_ack': 'bad', 'task.approval_required': 'wait' };

/** @type {HTMLElement} */
let body;
/** @type {HTMLTemplateElement} */
let template;
/** @type {Record<string, string>} */
let names = {};
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

/**
 * The filters of the address. The server applies them to stored rows, this function to new ones.
 * @param {Entry} entry
 */
function matches(entry) {
  const { filterType, filterTask, filterFrom, filterText } = body.dataset;
  if (filterType && !filterType.split(',').some((pattern) => fits(pattern.trim(), entry.type))) return false;
  if (filterTask && entry.taskId !== filterTask) return false;
  if (filterFrom && entry.fromAgentId !== filterFrom) return false;
  return !filterText || JSON.stringify(entry).toLowerCase().includes(filterText.toLowerCase());
}

/**
 * @param {string} pattern a type, or a group such as `task.*`
 * @param {string} type
 */
function fits(pattern, type) {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

/** Whether the reader looks at older rows, which must not move. */
function isScrolled() {
  return body.getBoundingClientRect().top < 0 || (body.closest('table')?.parentElement?.scrollTop ?? 0) > 0;
}

function flush() {
  timer = 0;
  if (isPaused || isScrolled()) showWaiting();
  else addRows();
}

/** Puts everything that waits into the table. */
function addRows() {
  const rows = document.createDocumentFragment();
  for (const entry of waiting.reverse()) rows.append(row(entry));
  body.prepend(rows);
  const elementsMax = ROWS_MAX * template.content.childElementCount;
  while (body.childElementCount > elementsMax) body.lastElementChild?.remove();
  waiting = [];
  waitingCount = 0;
  showWaiting();
}

/** @param {Entry} entry */
function row(entry) {
  const made = document.importNode(template.content, true);
  const top = made.firstElementChild;
  if (top instanceof HTMLElement) {
    top.dataset.cursor = String(entry.id);
    top.dataset.type = entry.type;
  }
  for (const slot of all(made, '[data-slot]')) fill(slot, entry);
  return made;
}

/**
 * @param {HTMLElement} slot
 * @param {Entry} entry
 */
function fill(slot, entry) {
  switch (slot.dataset.slot) {
    case 'time':
      slot.textContent = clock(new Date(entry.createdAt), true);
      slot.title = entry.createdAt;
      if (slot instanceof HTMLTimeElement) slot.dateTime = entry.createdAt;
      break;
    case 'cursor':
      slot.textContent = String(entry.id);
      break;
    case 'type': {
      slot.textContent = entry.type;
      const tone = TONES[entry.type];
      if (tone) slot.classList.add('tone', `tone-${tone}`);
      break;
    }
    case 'task':
      slot.textContent = entry.taskId ?? '–';
      if (slot instanceof HTMLAnchorElement) link(slot, entry.taskId);
      break;
    case 'from':
      slot.textContent = sender(entry);
      break;
    case 'detail':
      slot.textContent = facts(entry.data) || '–';
      break;
    case 'json':
      slot.textContent = JSON.stringify(entry, null, 2);
      break;
  }
}

/**
 * The template names the folder of the tasks in `data-base`.
 * @param {HTMLAnchorElement} anchor
 * @param {string | null} task
 */
function link(anchor, task) {
  if (task) anchor.href = (anchor.dataset.base ?? '') + encodeURIComponent(task);
  else anchor.removeAttribute('href');
}

/** @param {Entry} entry */
function sender(entry) {
  if (!entry.fromAgentId) return 'the hub';
  const given = entry.data['fromAgentName'];
  if (Object.hasOwn(names, entry.fromAgentId)) return String(names[entry.fromAgentId]);
  return typeof given === 'string' ? given : entry.fromAgentId;
}

/**
 * The fields of an event on one line. The whole event is in the row's JSON.
 * @param {Record<string, unknown>} data
 */
function facts(data) {
  return Object.entries(data)
    .filter(([name, value]) => value !== null && !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.length : typeof value === 'object' ? '{…}' : value}`)
    .join(' ')
    .slice(0, DETAIL_CHARS_MAX);
}

function showWaiting() {
  const newer = document.getElementById('tail-newer');
  if (!newer) return;
  newer.hidden = waitingCount === 0;
  const events = waitingCount === 1 ? '1 newer event waits' : `${waitingCount} newer events wait`;
  const kept = waitingCount > waiting.length ? `. The newest ${ROWS_MAX} are kept here: reload to see all` : '';
  label(newer, events + kept);
}

/**
 * Writes the text of a button and leaves its icon.
 * @param {HTMLElement} target
 * @param {string} text
 */
function label(target, text) {
  (target.querySelector('[data-slot="label"]') ?? target).textContent = text;
}

/**
 * @param {number} first
 * @param {number} end
 */
function reportGap(first, end) {
  let note = document.getElementById('tail-note');
  if (!note) {
    note = element('p', { id: 'tail-note', class: 'banner tone-wait' });
    body.closest('table')?.before(note);
  }
  note.hidden = false;
  const range = first === end ? `Event ${first} is` : `Events ${first} to ${end} are`;
  note.textContent = `${range} missing here: the stream started again with a gap. Reload to see what the hub still has.`;
}

/** @param {HTMLElement} pause */
function togglePause(pause) {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  label(pause, isPaused ? 'Resume' : 'Pause');
  if (!isPaused) flush();
}

function showNewer() {
  addRows();
  document.getElementById('tail-pause')?.focus();
  body.closest('table')?.scrollIntoView({ block: 'center' });
  scrollTo({ top: 0 });
}

/** The names of agents that the server knows, `{"id":"name"}`. */
function readNames() {
  try {
    names = JSON.parse(body.dataset.names ?? '{}');
  } catch {
    names = {};
  }
}

export function startTail() {
  const found = document.getElementById('tail');
  const rowTemplate = document.getElementById('tail-row');
  if (!found || !(rowTemplate instanceof HTMLTemplateElement)) return;
  [body, template] = [found, rowTemplate];
  last = Number(document.getElementById('live')?.dataset.cursor) || 0;
  readNames();
  document.addEventListener('tandem:event', (event) => {
    if (event instanceof CustomEvent) receive(event.detail);
  });
  const pause = document.getElementById('tail-pause');
  if (pause) {
    pause.hidden = false;
    pause.addEventListener('click', () => togglePause(pause));
  }
  document.getElementById('tail-newer')?.addEventListener('click', showNewer);
  document.addEventListener('scroll', () => {
    if (waitingCount > 0 && !timer) timer = setTimeout(flush, GATHER_MS);
  }, { capture: true, passive: true });
}
