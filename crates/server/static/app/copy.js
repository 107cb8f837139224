// Copy buttons: `<button data-copy="#id" hidden>` copies the text of that element. Without JavaScript they stay hidden.
import { element, onPress } from './dom.js';
import { toast } from './toast.js';

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages that come neither by HTTPS nor from this computer have no clipboard interface, but the old way works.
    const area = element('textarea', { class: 'sr' }, text);
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    return isDone;
  }
}

/** @param {HTMLElement} button */
async function copyFor(button) {
  const source = document.querySelector(button.dataset.copy ?? '');
  if (!source) return;
  const isDone = await copy((source instanceof HTMLInputElement ? source.value : source.textContent ?? '').trim());
  button.focus();
  if (!isDone) getSelection()?.selectAllChildren(source);
  toast(isDone ? 'Copied.' : 'The browser refused. The text is selected: press Ctrl+C.');
}

export function startCopy() {
  onPress('[data-copy]', copyFor);
}
