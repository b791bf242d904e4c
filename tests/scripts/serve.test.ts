import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStaticServer, listen, portFrom, resolvePath } from '../../scripts/serve.mjs';

let folder: string;
let server: Server;
let port: number;

/** A request whose path is sent as it stands (fetch would tidy `..` away). */
function get(path: string, options: { method?: string; headers?: Record<string, string> } = {}) {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; body: string }>((done, fail) => {
    const call = request({ host: '127.0.0.1', port, path, method: options.method ?? 'GET', headers: options.headers ?? {} }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (body += part));
      response.on('end', () => done({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    call.on('error', fail);
    call.end();
  });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratioscope-serve-'));
  mkdirSync(join(folder, 'site', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  mkdirSync(join(folder, 'site-private'));
  writeFileSync(join(folder, 'site-private', 'secret.txt'), 'secret');
  writeFileSync(join(folder, 'site', 'index.html'), '<p>page</p>');
  for (const name of ['a.wasm', 'a.onnx', 'a.woff2', 'a.js']) writeFileSync(join(folder, 'site', 'assets', name), name);
  server = createStaticServer({ root: join(folder, 'site') });
  port = await listen(server, 0);
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('static server', () => {
  test('serves the index and the right MIME types', async () => {
    expect(await get('/')).toMatchObject({ status: 200, body: '<p>page</p>' });
    const types = await Promise.all(['a.wasm', 'a.onnx', 'a.woff2', 'a.js'].map(async (name) => (await get(`/assets/${name}`)).headers['content-type']));
    expect(types).toEqual(['application/wasm', 'application/octet-stream', 'font/woff2', 'text/javascript; charset=utf-8']);
  });

  test('sends the policy, isolation and no-cache headers with every answer', async () => {
    for (const path of ['/', '/missing', '/%2e%2e/secret.txt']) {
      const { headers } = await get(path);
      expect(headers['content-security-policy']).toContain("default-src 'self'");
      expect(headers['cross-origin-opener-policy']).toBe('same-origin');
      expect(headers['cross-origin-embedder-policy']).toBe('require-corp');
      expect(headers['cache-control']).toBe('no-cache');
    }
  });

  test('refuses every way out of its folder', async () => {
    const ways = ['/../secret.txt', '/%2e%2e/secret.txt', '/assets/../../secret.txt', '/..%2fsecret.txt', '/..%5csecret.txt', '/../site-private/secret.txt', '/%00', '/%zz', '//etc/passwd'];
    for (const path of ways) {
      const { status, body } = await get(path);
      expect([400, 404], path).toContain(status);
      expect(body, path).not.toContain('secret');
    }
    expect(resolvePath(resolve('/srv/site'), '/../site-private/secret.txt')).toBeNull();
  });

  test('answers 304 to a known ETag, HEAD without a body, 405 to POST', async () => {
    const first = await get('/assets/a.js');
    expect(await get('/assets/a.js', { headers: { 'if-none-match': String(first.headers.etag) } })).toMatchObject({ status: 304, body: '' });
    expect(await get('/assets/a.js', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    expect((await get('/', { method: 'POST' })).status).toBe(405);
  });

  test('listens on the loopback address only and takes the next port when one is taken', async () => {
    expect((server.address() as AddressInfo).address).toBe('127.0.0.1');
    const second = createStaticServer({ root: join(folder, 'site') });
    const next = await listen(second, port);
    second.close();
    expect(next).toBeGreaterThan(port);
  });

  test('serves under a base path', async () => {
    const based = createStaticServer({ root: join(folder, 'site'), basePath: '/deep/er/' });
    const own = await listen(based, 0);
    const status = async (path: string) => (await fetch(`http://127.0.0.1:${own}${path}`)).status;
    expect([await status('/deep/er/'), await status('/deep/er/assets/a.js'), await status('/assets/a.js')]).toEqual([200, 200, 404]);
    based.close();
  });

  test('--port takes a number and nothing else', () => {
    expect(portFrom([], 4173)).toBe(4173);
    expect(portFrom(['--port', '8080'], 4173)).toBe(8080);
    expect(portFrom(['--port=0'], 4173)).toBe(0);
    for (const bad of [['--port'], ['--port', 'x'], ['--port=70000'], ['--port=']]) expect(() => portFrom(bad, 1)).toThrow('--port takes a number');
  });
});
