// Short notes at the edge of the page. The server renders one after an action (`?done=WORD`); modules add others.
import { all, element } from './dom.js';

const SHOWN_MS = 6000;

/**
 * Removes a toast after a while, but not while the person points at it or has the focus in it.
 * @param {HTMLElement} toast
 */
function expire(toast) {
  setTimeout(() => {
    if (toast.matches(':hover, :focus-within')) expire(toast);
    else toast.remove();
  }, SHOWN_MS);
}

/**
 * Shows one sentence in place of the last one.
 * @param {string} text
 */
export function toast(text) {
  const made = element('div', { class: 'toast' }, text);
  document.getElementById('toasts')?.replaceChildren(made);
  expire(made);
}

export function startToasts() {
  for (const shown of all(document, '.toast')) expire(shown);
  // Reloading the page or sending its address to somebody must not repeat the note.
  const address = new URL(location.href);
  if (!address.searchParams.has('done')) return;
  address.searchParams.delete('done');
  history.replaceState(history.state, '', address);
}
