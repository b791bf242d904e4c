// @ts-check

/**
 * What the built page may load: its own origin and nothing else. `wasm-unsafe-eval` lets onnxruntime-web compile its
 * WebAssembly (it does not allow eval); inline styles are how React and recharts set sizes and colours; fonts and images
 * that are small are inlined as data: by the build; recharts and the worker loader use blob: URLs of our own making.
 */
const DIRECTIVES = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
];

/** For a <meta http-equiv> in the built index.html: travels with the files to any static host. */
export const CONTENT_SECURITY_POLICY = DIRECTIVES.join('; ');

/** For the header that our own server sends; `frame-ancestors` has no effect in a meta tag. */
export const CONTENT_SECURITY_POLICY_HEADER = [...DIRECTIVES, "frame-ancestors 'self'"].join('; ');
