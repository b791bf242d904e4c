// @ts-check
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CACHE, DIST, ROOT } from './paths.mjs';
import { runModule } from './process.mjs';

const SOURCES = ['src', 'public', 'index.html', 'vite.config.ts', 'tsconfig.json', 'package.json', 'package-lock.json', 'scripts/lib/csp.mjs'];
const STAMP = join(CACHE, 'build-stamp');

/** Changes whenever a file that the build reads is added, removed or written. */
function fingerprint() {
  const hash = createHash('sha256');
  const visit = (/** @type {string} */ path) => {
    const absolute = join(ROOT, path);
    if (!existsSync(absolute)) return;
    const stat = statSync(absolute);
    if (stat.isDirectory()) for (const name of readdirSync(absolute).sort()) visit(`${path}/${name}`);
    else hash.update(`${path}\n${stat.size}\n${stat.mtimeMs}\n`);
  };
  SOURCES.forEach(visit);
  return hash.digest('hex');
}

/** True when dist was built by `build` from the files as they are now. */
export function isBuilt() {
  return existsSync(join(DIST, 'index.html')) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === fingerprint();
}

/** Builds the page into dist. @returns {Promise<number>} exit code */
export async function build() {
  const before = fingerprint();
  const code = await runModule('vite/bin/vite.js', ['build']);
  if (code === 0) {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(STAMP, before);
  }
  return code;
}

/**
 * What the browser must fetch before the page can draw: the entry script and the chunks that index.html preloads.
 * @returns {{ files: { path: string, gzip: number }[], gzip: number }} sizes in bytes
 */
export function entrySize() {
  const html = readFileSync(join(DIST, 'index.html'), 'utf8');
  const paths = [...html.matchAll(/<(?:script|link)\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => /type="module"|rel="modulepreload"/.test(tag))
    .flatMap((tag) => /(?:src|href)="([^"]+\.js)"/.exec(tag)?.[1] ?? []);
  const files = paths.map((path) => ({ path, gzip: gzipSync(readFileSync(join(DIST, path))).length }));
  return { files, gzip: files.reduce((sum, file) => sum + file.gzip, 0) };
}

/**
 * Every script of the build, largest first; all but the entry are fetched when they are needed.
 * @returns {{ path: string, gzip: number }[]} sizes in bytes
 */
export function scriptSizes() {
  const folder = join(DIST, 'assets');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ path: `assets/${name}`, gzip: gzipSync(readFileSync(join(folder, name))).length }))
    .sort((a, b) => b.gzip - a.gzip);
}
