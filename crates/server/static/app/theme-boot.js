// Applies the stored colour scheme before the first paint. It is a classic script for <head>, because a module runs
// too late and the page would flash. `theme.js` owns the setting.
(() => {
  try {
    const theme = localStorage.getItem('tandem.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // A browser that refuses storage follows the system.
  }
})();
