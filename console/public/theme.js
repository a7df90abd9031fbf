// Runs before anything is drawn, so that a dark page never flashes white.
(() => {
  let wanted = null;
  try {
    wanted = localStorage.getItem('footplate.theme');
  } catch {
    // Storage may be switched off; the system's theme is used then.
  }
  const isDark =
    wanted === 'dark' || (wanted !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();
