// /setup and /pair: takes the one-time code out of the fragment of the address and puts it into the form. The fragment
// is removed, so that the code stays neither in the history nor in an address that somebody copies.

const CODE_CHARS_MAX = 200;

/** The code in `#code=CODE` or `#CODE`. */
function codeInFragment() {
  const fragment = location.hash.slice(1);
  try {
    return new URLSearchParams(fragment).get('code') ?? decodeURIComponent(fragment);
  } catch {
    return '';
  }
}

/** @param {HTMLInputElement} field */
function take(field) {
  const code = codeInFragment();
  if (!code) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  field.value = code.slice(0, CODE_CHARS_MAX);
  // The person reads the page and presses the button: a link alone must not use up a code.
  field.form?.querySelector('button')?.focus();
}

export function startCodes() {
  const field = document.querySelector('input[data-code]');
  if (!(field instanceof HTMLInputElement)) return;
  take(field);
  addEventListener('hashchange', () => take(field));
}
