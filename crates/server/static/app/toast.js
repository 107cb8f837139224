// Short notes at the edge of the page. The server renders one after an action (`?done=WORD`); modules add others.
import { all, byId, element } from './dom.js';

const SHOWN_MS = 6000;

/** Removes a toast after a while, unless the person points at it or has the focus in it. @param {HTMLElement} note */
function expire(note) {
  setTimeout(() => {
    if (note.matches(':hover, :focus-within')) expire(note);
    else note.remove();
  }, SHOWN_MS);
}

/** Shows a sentence in place of the last one. @param {string} text */
export function toast(text) {
  const made = element('div', { class: 'toast' }, text);
  byId('toasts')?.replaceChildren(made);
  expire(made);
}

export function startToasts() {
  all(document, '.toast').forEach(expire);
  // Reloading the page or sending its address to somebody must not repeat the note.
  const address = new URL(location.href);
  if (!address.searchParams.has('done')) return;
  address.searchParams.delete('done');
  history.replaceState(history.state, '', address);
}
