// Lets the person choose the colour scheme: that of the system, light or dark. `theme-boot.js` applies the stored
// choice before the first paint.
import { all, forEachPart, setting, store } from './dom.js';

function stored() {
  const theme = setting('theme');
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

/** @param {string} theme */
function apply(theme) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const choice of all(document, '[data-theme-set]')) {
    choice.setAttribute('aria-pressed', String(choice.dataset.themeSet === theme));
  }
}

export function startTheme() {
  forEachPart((root) => {
    for (const choice of all(root, '[data-theme-set]')) choice.hidden = false;
    apply(stored());
  });
  document.addEventListener('click', (event) => {
    const choice = event.target instanceof Element ? event.target.closest('[data-theme-set]') : null;
    if (!(choice instanceof HTMLElement)) return;
    const theme = choice.dataset.themeSet ?? 'system';
    store('theme', theme === 'system' ? null : theme);
    apply(theme);
  });
  // Another tab changed it.
  addEventListener('storage', (event) => {
    if (event.key === null || event.key === 'tandem.theme') apply(stored());
  });
}
