import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { CONTENT_SECURITY_POLICY } from './scripts/lib/csp.mjs';

/** Puts the content security policy into the built page. Not in `npm run dev`, whose hot reloading needs an inline script. */
const contentSecurityPolicy: Plugin = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: CONTENT_SECURITY_POLICY }, injectTo: 'head-prepend' },
  ],
};

export default defineConfig({
  // Relative addresses, so that the build works from any path on any static host.
  base: './',
  plugins: [react(), contentSecurityPolicy],
  worker: { format: 'es' },
  build: { target: 'es2023', outDir: 'dist', chunkSizeWarningLimit: 1000 },
  // A dependency that Vite meets late reloads the page in the middle of a run.
  optimizeDeps: { include: ['react', 'react-dom/client', 'zustand', 'recharts', 'katex', 'onnxruntime-web/wasm', 'onnxruntime-web/jspi', 'onnxruntime-web/webgpu'] },
});
