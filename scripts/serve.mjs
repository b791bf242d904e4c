// @ts-check
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CONTENT_SECURITY_POLICY_HEADER } from './lib/csp.mjs';
import { DIST } from './lib/paths.mjs';

/** @type {Record<string, string>} */
const MIME = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.onnx': 'application/octet-stream',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
};

const HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY_HEADER,
  // Cross-origin isolation gives the page precise timers.
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

/**
 * The file that a request path stands for, or null when it is malformed or points outside `root`.
 * @param {string} root absolute folder
 * @param {string} pathname path of the URL, still percent-encoded, starting with /
 * @returns {string | null}
 */
export function resolvePath(root, pathname) {
  let decoded;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  if (decoded.includes('\0') || decoded.includes('\\') || decoded.split('/').some((part) => part === '..')) return null;
  const file = resolve(root, `.${decoded}`);
  return file === root || file.startsWith(root + sep) ? file : null;
}

/**
 * A static file server for localhost. Answers GET and HEAD under `basePath`, everything else with an error status.
 * @param {{ root?: string, basePath?: string }} [options]
 *   root: folder to serve (dist); basePath: the URL path at which it appears, starting and ending with /
 */
export function createStaticServer({ root = DIST, basePath = '/' } = {}) {
  const folder = resolve(root);
  return createServer((request, response) => {
    const refuse = (/** @type {number} */ status, /** @type {string} */ text) => {
      response.writeHead(status, { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(`${text}\n`);
    };
    const answer = async () => {
      if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'Only GET and HEAD.');
      const pathname = (request.url ?? '/').split(/[?#]/, 1)[0] ?? '/';
      if (!pathname.startsWith(basePath)) return refuse(404, 'Not found.');
      let file = resolvePath(folder, `/${pathname.slice(basePath.length)}`);
      if (file === null) return refuse(400, 'Bad path.');
      let info = await stat(file).catch(() => null);
      if (info?.isDirectory()) {
        file = join(file, 'index.html');
        info = await stat(file).catch(() => null);
      }
      if (!info?.isFile()) return refuse(404, 'Not found.');
      const etag = `"${info.size.toString(16)}-${Math.round(info.mtimeMs).toString(16)}"`;
      if (request.headers['if-none-match'] === etag) {
        response.writeHead(304, { ...HEADERS, ETag: etag });
        return response.end();
      }
      response.writeHead(200, {
        ...HEADERS,
        'Content-Type': MIME[extname(file).toLowerCase()] ?? 'application/octet-stream',
        'Content-Length': info.size,
        ETag: etag,
      });
      if (request.method === 'HEAD') return response.end();
      createReadStream(file).on('error', () => response.destroy()).pipe(response);
    };
    answer().catch(() => response.destroy());
  });
}

/**
 * Listens on 127.0.0.1 only, at `port` or the next free one.
 * @param {import('node:http').Server} server
 * @param {number} port 0 for any
 * @returns {Promise<number>} the port in use
 */
export async function listen(server, port) {
  for (let candidate = port; candidate <= Math.min(port + 50, 65535); candidate++) {
    const taken = await new Promise((done, fail) => {
      const onError = (/** @type {NodeJS.ErrnoException} */ error) => (error.code === 'EADDRINUSE' || error.code === 'EACCES' ? done(true) : fail(error));
      server.once('error', onError);
      server.listen(candidate, '127.0.0.1', () => {
        server.off('error', onError);
        done(false);
      });
    });
    if (!taken) return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
  }
  throw new Error(`No free port from ${port} to ${port + 50}. Choose another with --port.`);
}

/**
 * The value of `--port n` or `--port=n`.
 * @param {string[]} args
 * @param {number} fallback
 */
export function portFrom(args, fallback) {
  const at = args.findIndex((arg) => arg === '--port' || arg.startsWith('--port='));
  if (at < 0) return fallback;
  const text = args[at]?.includes('=') ? args[at]?.split('=')[1] : args[at + 1];
  const port = Number(text);
  if (!text || !Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`--port takes a number from 0 to 65535, not ${JSON.stringify(text ?? '')}.`);
  return port;
}

/** Serves dist and prints its address. @param {string[]} args */
export async function serve(args) {
  if (!existsSync(join(DIST, 'index.html'))) throw new Error('dist/index.html is missing. Run npm start, which builds it.');
  const port = await listen(createStaticServer(), portFrom(args, 4173));
  console.log(`\nRatioscope is at http://localhost:${port}/\nOpen it in a browser with WebGPU (current Chrome, Edge, Safari or Firefox). Stop with Ctrl+C.`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  serve(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
}
