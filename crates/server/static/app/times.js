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

const dateOnly = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

/** @typedef {{ text: string, changesIn: number }} Shown */

/** A span of time in its largest unit. @param {number} ms */
export function span(ms) {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

const digits = (/** @type {number} */ n, length = 2) => String(n).padStart(length, '0');

/** @param {Date} at */
export function clock(at, withMs = false) {
  const text = [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => digits(n)).join(':');
  return withMs ? `${text}.${digits(at.getMilliseconds(), 3)}` : text;
}

/** How long ago, or in how long. @param {number} at @param {number} now @returns {Shown} */
export function relative(at, now) {
  const ms = Math.abs(now - at);
  if (ms < 10 * SECOND) return { text: 'just now', changesIn: 10 * SECOND - ms };
  if (ms >= 30 * DAY) return { text: dateOnly.format(at), changesIn: DAY };
  // Steps of ten seconds: a text that changes every second draws the eye.
  const step = ms < MINUTE ? 10 * SECOND : ms < HOUR ? MINUTE : ms < DAY ? HOUR : DAY;
  const rest = ms % step;
  const text = span(ms - rest);
  return at > now ? { text: `in ${text}`, changesIn: rest + 1 } : { text: `${text} ago`, changesIn: step - rest };
}

/** What is left of a time, or null if nothing is. @param {number} ms @param {boolean} asClock @returns {Shown | null} */
export function left(ms, asClock) {
  if (ms <= 0) return null;
  if (asClock || ms < CLOCK_BELOW) {
    const seconds = Math.ceil(ms / SECOND);
    return { text: `${Math.floor(seconds / 60)}:${digits(seconds % 60)}`, changesIn: ms - (seconds - 1) * SECOND };
  }
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  const text = ms >= HOUR && ms < DAY ? `${span(ms)} ${minutes} min` : span(ms);
  return { text, changesIn: (ms % MINUTE) + 1 };
}

/** Writes one time. @param {HTMLTimeElement} element @param {number} now @returns {number} when it changes, in ms */
function show(element, now) {
  const at = Date.parse(element.dateTime);
  if (Number.isNaN(at)) return Infinity;
  const { left: countdown, clock: exact, over = '0:00' } = element.dataset;
  const shown = exact !== undefined ? { text: clock(new Date(at), exact === 'ms'), changesIn: Infinity }
    : countdown === undefined ? relative(at, now) : left(at - now, countdown === 'clock');
  const text = shown ? shown.text : over;
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

export function startTimes() {
  forEachPart((root) => {
    for (const element of all(root, 'time[datetime]')) {
      const at = Date.parse(element.getAttribute('datetime') ?? '');
      if (!Number.isNaN(at)) element.title = absolute.format(at);
    }
    tick();
  });
  document.addEventListener('visibilitychange', tick);
  addEventListener('pageshow', tick);
}
