// The entry: starts every module. The pages work without it; the modules add live updates, fresh times, copy buttons,
// shortcuts and decryption.
import { startCodes } from './codes.js';
import { startCopy } from './copy.js';
import { startKeys } from './keys.js';
import { startLive } from './live.js';
import { startSealed } from './sealed.js';
import { startTail } from './tail.js';
import { startTheme } from './theme.js';
import { startTimes } from './times.js';
import { startToasts } from './toast.js';

/** The second click of a double click sends nothing: its answer would hide the first one. */
function startForms() {
  addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== 'post') return;
    if (form.dataset.sent !== undefined) event.preventDefault();
    form.dataset.sent = '';
    // A person may have stopped it.
    setTimeout(() => delete form.dataset.sent, 2000);
  });
}

function start() {
  // Live first: it remembers what the server sent before the others change it. The tail listens before events come,
  // since the stream opens later.
  const modules = [startLive, startTail, startCodes, startToasts, startTheme, startTimes, startCopy, startKeys, startSealed, startForms];
  for (const begin of modules) {
    try {
      begin();
    } catch (cause) {
      // One module that fails must not take the others along.
      console.error(cause);
    }
  }
}

// CSS shows what needs JavaScript.
document.documentElement.classList.add('js');
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
else start();
