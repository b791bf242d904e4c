import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Dev only: `npx vite --config tests/visual/vite.config.ts` shows the gallery; it is no part of the page's build.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [react()],
  build: { target: 'es2023', outDir: '../../node_modules/.gallery', emptyOutDir: true, chunkSizeWarningLimit: 4000 },
});
