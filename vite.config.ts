import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  // Relative addresses, so that the build works from any path on any static host.
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  build: { target: 'es2023', outDir: 'dist', chunkSizeWarningLimit: 1000 },
  // A dependency that Vite meets late reloads the page in the middle of a run.
  optimizeDeps: { include: ['react', 'react-dom/client', 'zustand', 'recharts', 'katex', 'onnxruntime-web'] },
});
