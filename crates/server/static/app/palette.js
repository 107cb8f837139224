// The palette: Ctrl+K opens the page of search above any page. It shows what the server found and opens it; it never
// decides anything. Without the script, the field of the title bar leads to that page.
import { all, byId, element } from './dom.js';

const PAUSE_MS = 150;

/** @type {HTMLDialogElement | null} */
let dialog = null;
let timer = 0;
let asked = 0;

/** @param {HTMLInputElement} field @param {HTMLElement} place @param {string} page */
async function look(field, place, page) {
  const mine = asked += 1;
  const url = new URL(page, location.href);
  url.searchParams.set('q', field.value);
  const answer = await fetch(url, { headers: { 'X-Live': '1' }, credentials: 'same-origin' }).catch(() => null);
  // Only the newest question counts.
  if (mine !== asked) return;
  const text = answer?.ok ? await answer.text() : '';
  if (mine !== asked) return;
  const found = new DOMParser().parseFromString(text, 'text/html').getElementById('results');
  place.replaceChildren(found ?? element('p', { class: 'note' }, 'The search does not answer.'));
  found?.removeAttribute('id');
  found?.dispatchEvent(new CustomEvent('tandem:fresh', { bubbles: true }));
}

/** Moves among the hits, from the field and back to it. @param {HTMLDialogElement} box @param {number} step */
function move(box, step) {
  const stops = [...all(box, 'input'), ...all(box, 'a')];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  stops[(at + step + stops.length) % stops.length]?.focus();
}

/** @param {string} page @param {string} text */
function make(page, text) {
  const field = element('input', { type: 'text', role: 'searchbox', 'aria-label': 'Search everything', placeholder: 'Tasks, agents, messages', maxlength: '200' });
  field.value = text;
  const place = element('div', { 'aria-live': 'polite' });
  const keys = element('p', {}, element('kbd', {}, '↑'), element('kbd', {}, '↓'), 'move', element('kbd', {}, 'Enter'), 'open',
    element('kbd', {}, 'Esc'), 'close');
  const made = element('dialog', { class: 'palette', 'aria-label': 'Search' }, field, place, keys);
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => look(field, place, page), PAUSE_MS);
  });
  made.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 && !(event.key === 'Enter' && document.activeElement === field)) return;
    event.preventDefault();
    if (step) move(made, step);
    else all(made, 'a')[0]?.click();
  });
  // A press beside it.
  made.addEventListener('click', (event) => { if (event.target === made) made.close(); });
  made.addEventListener('close', () => { made.remove(); dialog = null; });
  document.body.append(made);
  made.showModal();
  void look(field, place, page);
  return made;
}

/** Opens the palette; false where a page has no search. */
export function togglePalette() {
  const field = byId('search');
  if (!(field instanceof HTMLInputElement) || !field.form) return false;
  if (dialog) dialog.close();
  else dialog = make(field.form.action, field.value);
  return true;
}
