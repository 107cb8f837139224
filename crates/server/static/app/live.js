// Keeps the page live by one event stream, and says so plainly when it is not. The stream is closed while nobody sees
// the page, because a browser opens only six connections to a host, and is resumed by the cursor. Each event asks for
// a refresh of the page (`refresh.js`) and is handed to other modules as `tandem:event`.
import { button, byId, element } from './dom.js';
import { dropRefresh, refresh, rememberServed } from './refresh.js';
import { clock, span } from './times.js';

/**
 * One entry of the event log, as `GET /events` returns it, and what it says to a person.
 * @typedef {{ id: number, type: string, taskId: string | null, fromAgentId: string | null,
 *   data: Record<string, unknown>, createdAt: string, sentence?: string }} Entry
 */

/** Events come in groups: wait for the rest of a group before a refresh. */
const GATHER_MS = 150;
const REFRESH_PAUSE_MS = 1000;
/** The live tail adds its rows itself. A refresh serves only the counts around it. */
const TAIL_REFRESH_PAUSE_MS = 5000;
const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 30_000;
/** A connection that is back within this time is not worth a word. */
const GRACE_MS = 2000;
/** A hub that sends `ping` events does so every 15 seconds. */
const SILENCE_MAX_MS = 40_000;
const WATCH_MS = 5000;

/** @type {HTMLElement} */
let sign;
let cursor = 0;
/** @type {EventSource | null} */
let source = null;
let isOpen = false;
let isSignedOut = false;
let failures = 0;
/** Since when the page may be out of date; 0 while it is live. */
let lostAt = 0;
let nextTryAt = 0;
/** Whether the person can see the page, and since when. */
let isShown = false;
let shownAt = 0;
let isRefreshing = false;
let isWanted = false;
let refreshedAt = 0;
let heldRegions = 0;
/** When the hub was last heard, if it sends `ping` events; else 0. */
let heardAt = 0;
let [refreshTimer, retryTimer, pollTimer, signTimer, watchTimer] = [0, 0, 0, 0, 0];

/** Opens the stream after the last event that was handled. */
function connect() {
  const path = sign.dataset.stream;
  if (!path) return caughtUp();
  const url = new URL(path, location.href);
  url.searchParams.set('after', String(cursor));
  source?.close();
  const mine = source = new EventSource(url);
  const on = (/** @type {string} */ name, /** @type {(data: string) => void} */ act) =>
    mine.addEventListener(name, (event) => { if (source === mine) act(String(event.data)); });
  on('open', caughtUp);
  // The browser's own retry has a fixed pause and gives up after some errors. Ours does neither.
  on('error', lost);
  on('log', receive);
  on('ping', () => { heardAt = Date.now(); });
  on('end', (data) => JSON.parse(data).reason === 'signed-out' ? signedOut() : lost());
}

/** @param {string} data */
function receive(data) {
  if (heardAt) heardAt = Date.now();
  wantRefresh();
  /** @type {Entry} */
  let entry;
  try {
    entry = JSON.parse(data);
  } catch {
    return;
  }
  // A resumed stream may repeat the last event.
  if (!(entry.id > cursor)) return;
  cursor = entry.id;
  failures = 0;
  document.dispatchEvent(new CustomEvent('tandem:event', { detail: entry }));
}

function caughtUp() {
  isOpen = true;
  lostAt = 0;
  if (isWanted) wantRefresh();
  schedulePoll();
  showState();
}

/** Stops the stream, the refresh under way and all timers. */
function suspend() {
  for (const timer of [refreshTimer, retryTimer, pollTimer]) clearTimeout(timer);
  dropRefresh();
  source?.close();
  source = null;
  isOpen = isRefreshing = false;
  refreshTimer = heardAt = 0;
  lostAt ||= Date.now();
}

function signedOut() {
  suspend();
  isSignedOut = true;
  // It offers another button now.
  byId('live-banner')?.remove();
  showState();
}

/** The stream broke or the page could not be fetched: try again later, each time after a longer pause. */
function lost() {
  suspend();
  // Jitter, so that a hub that restarts is not met by all pages at once.
  const pause = Math.min(RETRY_MIN_MS * 2 ** failures, RETRY_MAX_MS) * (0.5 + Math.random() / 2);
  failures += 1;
  nextTryAt = Date.now() + pause;
  retryTimer = setTimeout(retry, pause);
  showState();
}

/** Fetches the page first: only its answer tells whether the person is still signed in. */
async function retry() {
  clearTimeout(retryTimer);
  nextTryAt = 0;
  showState();
  if (await runRefresh()) connect();
}

/** Asks for a refresh soon. Many requests make one. */
function wantRefresh() {
  isWanted = true;
  if (refreshTimer || isRefreshing || !isOpen) return;
  const pause = byId('tail') ? TAIL_REFRESH_PAUSE_MS : REFRESH_PAUSE_MS;
  refreshTimer = setTimeout(runRefresh, Math.max(GATHER_MS, refreshedAt + pause - Date.now()));
}

/**
 * Events that come while a refresh is under way ask for another one after it. They do not drop it: on a busy hub the
 * page would then never change.
 * @returns {Promise<boolean>} whether the page is up to date
 */
async function runRefresh() {
  refreshTimer = 0;
  isRefreshing = true;
  isWanted = false;
  refreshedAt = Date.now();
  const { outcome, held } = await refresh();
  // Whoever dropped it decides how it goes on.
  if (outcome === 'dropped') return false;
  isRefreshing = false;
  heldRegions = held;
  if (outcome === 'signed-out') signedOut();
  else if (outcome === 'failed') lost();
  else if (isWanted) wantRefresh();
  showState();
  return outcome === 'done';
}

/** Pages with plots ask to be fetched every few seconds (`data-refresh`). */
function schedulePoll() {
  clearTimeout(pollTimer);
  const seconds = Number(byId('main')?.dataset.refresh);
  if (!(seconds > 0)) return;
  pollTimer = setTimeout(() => {
    wantRefresh();
    schedulePoll();
  }, seconds * 1000);
}

function hide() {
  isShown = false;
  suspend();
  clearInterval(watchTimer);
  showState();
}

/** @param {() => void} open how to begin */
function show(open) {
  if (isShown || document.hidden) return;
  isShown = true;
  isSignedOut = false;
  shownAt = Date.now();
  watch();
  open();
  showState();
}

/** Notices a connection that died without a word, and a computer that slept. */
function watch() {
  let last = Date.now();
  watchTimer = setInterval(() => {
    const oldest = Math.min(last, heardAt || last);
    last = Date.now();
    // Not already when the stream opens: it may break at once, again and again.
    if (isOpen) failures = 0;
    if (isOpen && last - oldest > SILENCE_MAX_MS) lost();
  }, WATCH_MS);
}

/** Writes the state beside the title and, if the page is out of date, above its content. */
function showState() {
  const now = Date.now();
  const isGrace = !isSignedOut && now - Math.max(lostAt, shownAt) < GRACE_MS;
  const state = lostAt === 0 ? 'live' : isGrace ? 'connecting' : 'stale';
  const word = { live: 'Live', connecting: 'Connecting', stale: isSignedOut ? 'Signed out' : 'Not live' }[state];
  const waits = heldRegions === 1 ? ', a part waits' : `, ${heldRegions} parts wait`;
  const detail = state === 'stale' ? `, ${span(now - lostAt)} old` : state === 'live' && heldRegions ? waits : '';
  sign.title = heldRegions ? 'Parts that you are using change when you leave them.' : '';
  sign.dataset.state = state;
  if (!sign.querySelector('span span')) {
    sign.replaceChildren(element('span', {}, element('span', {}), element('span', { 'aria-hidden': 'true' })));
  }
  // The word is announced when it changes. The seconds are hidden from screen readers: they would never stop.
  setText(sign, 'span > span', word);
  setText(sign, '[aria-hidden]', detail);
  showBanner(state === 'stale' && isShown, now);
  clearTimeout(signTimer);
  if (isShown && state !== 'live') signTimer = setTimeout(showState, 1000);
}

/** Writes only what changes. @param {Element} root @param {string} selector @param {string} text */
function setText(root, selector, text) {
  const part = root.querySelector(selector);
  if (part && part.textContent !== text) part.textContent = text;
}

/** @param {boolean} isStale @param {number} now */
function showBanner(isStale, now) {
  let banner = byId('live-banner');
  if (!isStale) return banner?.remove();
  if (!banner) {
    banner = element('div', { id: 'live-banner', class: 'banner tone-wait' },
      element('p', {}, element('strong', {}), element('span', {})), isSignedOut
        ? element('a', { class: 'btn', href: '/app/sign-in' }, 'Sign in') : button('Try now', retry));
    byId('main')?.prepend(banner);
  }
  const resume = sign.dataset.stream ? ` Nothing is missed: the page resumes after event ${cursor}.` : '';
  const next = nextTryAt > now ? `Next try in ${span(nextTryAt - now + 999)}.` : 'Trying now.';
  setText(banner, 'strong', isSignedOut ? 'You are signed out.' : `Connection lost ${span(now - lostAt)} ago.`);
  setText(banner, 'span', ` You see the state of ${clock(new Date(lostAt))}.`
    + (isSignedOut ? '' : `${resume} ${next} Buttons still work.`));
}

export function startLive() {
  const found = byId('live');
  if (!found) return;
  sign = found;
  cursor = Number(sign.dataset.cursor) || 0;
  lostAt = Date.now();
  rememberServed();
  document.addEventListener('visibilitychange', () => document.hidden ? hide() : show(retry));
  addEventListener('pagehide', hide);
  addEventListener('pageshow', () => show(retry));
  addEventListener('online', () => { if (isShown && !isOpen) void retry(); });
  document.addEventListener('tandem:refresh', wantRefresh);
  // A part that waits is replaced as soon as the person leaves it.
  for (const name of ['focusout', 'selectionchange', 'toggle']) {
    document.addEventListener(name, () => { if (heldRegions) wantRefresh(); }, true);
  }
  // The page was rendered a moment ago, and the stream brings everything since.
  show(connect);
}
