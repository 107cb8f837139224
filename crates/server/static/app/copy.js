// Copy buttons: `<button data-copy="#id" hidden>` copies the text of that element. Without JavaScript they stay hidden.
import { all, forEachPart } from './dom.js';
import { toast } from './toast.js';

/**
 * Copies the old way. Pages that do not come from HTTPS or localhost have no clipboard interface.
 * @param {string} text
 */
function copyBySelection(text) {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'sr';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** @param {HTMLElement} button */
async function copyFor(button) {
  const source = document.querySelector(button.dataset.copy ?? '');
  if (!source) return;
  const isField = source instanceof HTMLInputElement || source instanceof HTMLTextAreaElement;
  const text = isField ? source.value : (source.textContent ?? '').trim();
  const done = await copy(text);
  button.focus();
  if (done) return toast('Copied.');
  getSelection()?.selectAllChildren(source);
  toast('The browser refused. The text is selected: press Ctrl+C.');
}

export function startCopy() {
  forEachPart((root) => {
    for (const button of all(root, '[data-copy]')) button.hidden = false;
  });
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-copy]') : null;
    if (button instanceof HTMLElement) void copyFor(button);
  });
}
