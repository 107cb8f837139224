// /setup and /pair: takes the one-time code out of the fragment of the address and puts it into the form. The fragment
// is removed, so that the code stays neither in the history nor in an address that somebody copies.

const CODE_CHARS_MAX = 200;

/** The code in `#CODE` or `#code=CODE`, or null. */
function codeInFragment() {
  const fragment = location.hash.slice(1);
  if (fragment === '') return null;
  const code = new URLSearchParams(fragment).get('code');
  if (code) return code.slice(0, CODE_CHARS_MAX);
  try {
    return decodeURIComponent(fragment).slice(0, CODE_CHARS_MAX);
  } catch {
    return null;
  }
}

/** @param {HTMLInputElement} field */
function take(field) {
  const code = codeInFragment();
  if (code === null) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  field.value = code;
  // The person reads the page and presses the button: a link alone must not use up a code.
  field.form?.querySelector('button')?.focus();
}

export function startCodes() {
  const field = document.querySelector('input[data-code]');
  if (!(field instanceof HTMLInputElement)) return;
  take(field);
  addEventListener('hashchange', () => take(field));
}
