/** Colours that the components share with our own styles; theme.css has the same for what is ours. */
export const LIGHT = {
  colorPrimary: '#2f54c9',
  colorLink: '#2f54c9',
  // By hand: the derived one is too pale to read.
  colorLinkHover: '#24429f',
  colorError: '#b3261e',
  colorSuccess: '#1a6b36',
  colorWarning: '#8a5a00',
  colorInfo: '#2f54c9',
  colorBgLayout: '#f5f6f8',
  colorBgContainer: '#ffffff',
  colorText: '#1b2430',
  colorTextSecondary: '#4d5b6d',
  colorTextTertiary: '#5d6a7c',
  colorTextDescription: '#5d6a7c',
  colorTextPlaceholder: '#667286',
  colorBorder: '#d5dae2',
  colorBorderSecondary: '#e6e9ee',
  // By hand: those that the components derive are other greens and pinks than our own.
  colorErrorBg: '#fdeaea',
  colorErrorBorder: '#f3c5c2',
  colorSuccessBg: '#e2f5e8',
  colorSuccessBorder: '#b5dfc3',
  colorWarningBg: '#fff2d9',
  colorWarningBorder: '#f0d9a8',
  colorInfoBg: '#e6eefe',
  colorInfoBorder: '#c3d5fa',
};

export const DARK = {
  colorPrimary: '#86a0fa',
  colorLink: '#93abff',
  colorLinkHover: '#b7c6ff',
  colorError: '#f58d86',
  colorSuccess: '#6fcf8f',
  colorWarning: '#e6b85c',
  colorInfo: '#86a0fa',
  colorTextLightSolid: '#0e1217',
  colorBgLayout: '#0e1217',
  colorBgContainer: '#161b22',
  colorBgElevated: '#1d232c',
  colorText: '#e6eaf0',
  colorTextSecondary: '#aab5c4',
  colorTextTertiary: '#95a2b3',
  colorTextDescription: '#95a2b3',
  colorTextPlaceholder: '#8d9aab',
  colorBorder: '#333c48',
  colorBorderSecondary: '#262d37',
  colorErrorBg: '#3d1a1a',
  colorErrorBorder: '#6b2d2a',
  colorSuccessBg: '#12301d',
  colorSuccessBorder: '#245738',
  colorWarningBg: '#3a2c0d',
  colorWarningBorder: '#63501f',
  colorInfoBg: '#18294f',
  colorInfoBorder: '#2e4a85',
};

export const SANS =
  'Inter, "Segoe UI", system-ui, -apple-system, "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", ' +
  '"Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif';
export const MONOSPACE =
  '"JetBrains Mono", ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace';
