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

/** The fonts that the first picture needs come beside the scripts, not after them. */
const fontPreload: Plugin = {
  name: 'font-preload',
  apply: 'build',
  transformIndexHtml: (_html, { bundle = {} }) =>
    Object.keys(bundle)
      .filter((name) => /(inter|jetbrains-mono)-latin-wght-normal-[^/]*\.woff2$/.test(name))
      .map((name) => ({ tag: 'link', attrs: { rel: 'preload', href: `./${name}`, as: 'font', type: 'font/woff2', crossorigin: true }, injectTo: 'head' })),
};

const TFJS = ['tfjs-core', 'tfjs-core/dist/register_all_gradients', 'tfjs-backend-wasm', 'tfjs-backend-webgl', 'tfjs-backend-cpu'].map((name) => `@tensorflow/${name}`);

/** How long each plugin took is of no use to someone who wants to see the page. */
const QUIET = { bundlerTimings: false };

export default defineConfig({
  // Relative addresses, so that the build works from any path on any static host.
  base: './',
  plugins: [react(), contentSecurityPolicy, fontPreload],
  worker: { format: 'es', rolldownOptions: { checks: QUIET } },
  build: { target: 'es2023', outDir: 'dist', chunkSizeWarningLimit: 1000, rolldownOptions: { checks: QUIET } },
  // A dependency that Vite meets late reloads the page in the middle of a run.
  optimizeDeps: { include: ['react', 'react-dom/client', 'zustand', 'recharts', 'katex', '@codemirror/autocomplete', '@codemirror/commands', '@codemirror/language', '@codemirror/lint', '@codemirror/state', '@codemirror/view', '@lezer/highlight', 'onnxruntime-web/wasm', 'onnxruntime-web/jspi', 'onnxruntime-web/webgpu', ...TFJS] },
});
