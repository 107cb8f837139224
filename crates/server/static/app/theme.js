// Lets the person choose the colour scheme: that of the system, light or dark. `theme-boot.js` applies the stored
// choice before the first paint.
import { all, forEachPart, onPress, setting, store } from './dom.js';

function apply() {
  const theme = setting('theme') ?? 'system';
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const choice of all(document, '[data-theme-set]')) {
    choice.setAttribute('aria-pressed', String(choice.dataset.themeSet === theme));
  }
}

export function startTheme() {
  forEachPart(apply);
  onPress('[data-theme-set]', ({ dataset: { themeSet } }) => {
    store('theme', themeSet === 'light' || themeSet === 'dark' ? themeSet : null);
    apply();
  });
  // Another tab changed it.
  addEventListener('storage', apply);
}
