import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { budget } from './plugins/budget.ts';
import { compressed } from './plugins/compressed.ts';

const OUT = '../src/footplate/server/static';
const MOST_FIRST_LOAD_KB = 400;

export default defineConfig({
  plugins: [react(), budget(MOST_FIRST_LOAD_KB), compressed()],
  resolve: { alias: { '@': new URL('./src', import.meta.url).pathname } },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    assetsInlineLimit: 0,
    // What half of the pages need comes in one piece: each of many small ones would be a request of its own.
    rolldownOptions: {
      input: { index: 'index.html', desktop: 'desktop.html' },
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 6 }] } },
    },
  },
  server: { proxy: { '/api': process.env.FOOTPLATE_URL ?? 'http://127.0.0.1:8750' } },
  test: { include: ['src/**/*.test.{ts,tsx}'], environment: 'node' },
});
