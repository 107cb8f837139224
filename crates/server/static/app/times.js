// Keeps times fresh. The server renders them as of the moment of the answer:
//   <time datetime>              relative, "2 min ago"
//   <time datetime data-clock>   clock time in the reader's zone; data-clock="ms" with milliseconds
//   <time datetime data-left>    counts down, "11 min", then "0:41"; data-left="clock" always as minutes and seconds.
//                                At zero it shows data-over and asks for a refresh of the page.
// One timer serves all, and it sleeps until the next text changes.
import { all, forEachPart } from './dom.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Below this, a countdown shows seconds. */
const CLOCK_BELOW = 2 * MINUTE;

const absolute = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit',
  timeZoneName: 'short',
});
const dateOnly = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** @typedef {{ text: string, changesIn: number }} Shown */

/**
 * A span of time in its largest unit.
 * @param {number} ms
 */
export function span(ms) {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/**
 * @param {Date} at
 * @param {boolean} withMs
 */
export function clock(at, withMs = false) {
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const text = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return withMs ? `${text}.${String(at.getMilliseconds()).padStart(3, '0')}` : text;
}

/**
 * How long ago, or in how long.
 * @param {number} at
 * @param {number} now
 * @returns {Shown}
 */
export function relative(at, now) {
  const ms = Math.abs(now - at);
  if (ms < 10 * SECOND) return { text: 'just now', changesIn: 10 * SECOND - ms };
  if (ms >= 30 * DAY) return { text: dateOnly.format(at), changesIn: DAY };
  // Steps of ten seconds: a text that changes every second draws the eye.
  const step = ms < MINUTE ? 10 * SECOND : ms < HOUR ? MINUTE : ms < DAY ? HOUR : DAY;
  const text = span(ms < MINUTE ? ms - (ms % step) : ms);
  return at > now
    ? { text: `in ${text}`, changesIn: (ms % step) + 1 }
    : { text: `${text} ago`, changesIn: step - (ms % step) };
}

/**
 * What is left of a time, or null if nothing is.
 * @param {number} ms
 * @param {boolean} asClock
 * @returns {Shown | null}
 */
export function left(ms, asClock) {
  if (ms <= 0) return null;
  if (asClock || ms < CLOCK_BELOW) {
    const seconds = Math.ceil(ms / SECOND);
    const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    return { text, changesIn: ms - (seconds - 1) * SECOND };
  }
  const minutes = Math.floor(ms / MINUTE);
  const text = ms >= DAY ? span(ms)
    : minutes < 60 ? `${minutes} min`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return { text, changesIn: (ms % MINUTE) + 1 };
}

/**
 * Writes the text of one element.
 * @param {HTMLTimeElement} element
 * @param {number} now
 * @returns {number} milliseconds until it changes
 */
function show(element, now) {
  const at = Date.parse(element.dateTime);
  if (Number.isNaN(at)) return Infinity;
  const { left: countdown, clock: exact } = element.dataset;
  /** @type {Shown | null} */
  let shown;
  if (exact !== undefined) shown = { text: clock(new Date(at), exact === 'ms'), changesIn: Infinity };
  else if (countdown === undefined) shown = relative(at, now);
  else shown = left(at - now, countdown === 'clock');
  const text = shown ? shown.text : element.dataset.over ?? '0:00';
  if (element.textContent !== text) {
    element.textContent = text;
    if (!shown) document.dispatchEvent(new CustomEvent('tandem:refresh'));
  }
  return shown ? shown.changesIn : Infinity;
}

let timer = 0;

function tick() {
  clearTimeout(timer);
  if (document.hidden) return;
  const now = Date.now();
  let next = Infinity;
  for (const element of document.getElementsByTagName('time')) next = Math.min(next, show(element, now));
  // Not below a fraction of a second, and never so long that the browser's timer overflows.
  if (next < Infinity) timer = setTimeout(tick, Math.min(Math.max(next, 50), HOUR));
}

/** @param {ParentNode} root */
export function showTimes(root) {
  for (const element of all(root, 'time[datetime]')) {
    const at = element instanceof HTMLTimeElement ? Date.parse(element.dateTime) : NaN;
    if (!Number.isNaN(at)) element.title = absolute.format(at);
  }
  tick();
}

export function startTimes() {
  forEachPart(showTimes);
  document.addEventListener('visibilitychange', tick);
  addEventListener('pageshow', tick);
}
