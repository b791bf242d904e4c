// @ts-check
// Writes docs/licenses.md, the licence of every package that `npm start` installs: node scripts/licenses.mjs. No network: package.json
// says what is used, package-lock.json what comes with it, and each installed package's own package.json its licence.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lib/paths.mjs';

export const PAGE = join(ROOT, 'docs', 'licenses.md');

/** Licences under which a package may be part of the page. OFL-1.1 is for fonts. */
export const PERMISSIVE = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'OFL-1.1'];
/** What builds the page may also be under a licence that asks for changes to itself to be shared; nothing of it is in the page. */
export const FOR_TOOLS = [...PERMISSIVE, 'MPL-2.0'];

/** Direct dependencies that only build the page. */
const TOOLS = ['vite', '@vitejs/plugin-react'];

/**
 * @typedef {{ name: string, version: string, license: string, part: 'page' | 'build' }} Licensed
 * @typedef {{ version: string, license?: string, optional?: boolean, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} LockEntry
 */

/** Every package that a production install places, each once a version; those for other systems are in the list too. @returns {Licensed[]} */
export function licensed() {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  /** @type {Record<string, LockEntry>} */
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const roots = Object.keys(dependencies);
  const inPage = reached(lock, roots.filter((name) => !TOOLS.includes(name)));
  const all = reached(lock, roots);
  const list = [...all].map((path) => {
    const entry = /** @type {LockEntry} */ (lock[path]);
    const part = /** @type {'page' | 'build'} */ (inPage.has(path) ? 'page' : 'build');
    return { name: nameOf(path), version: entry.version, license: licenceOf(path, entry), part };
  });
  const unique = new Map(list.map((item) => [`${item.part} ${item.name} ${item.version}`, item]));
  return [...unique.values()].sort((a, b) => (a.name === b.name ? (a.version < b.version ? -1 : 1) : a.name < b.name ? -1 : 1));
}

/** @param {string} path of package-lock.json, e.g. node_modules/a/node_modules/b */
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * Paths of the packages that some packages need, themselves included.
 * @param {Record<string, LockEntry>} lock @param {string[]} names
 */
function reached(lock, names) {
  const found = /** @type {Set<string>} */ (new Set());
  const visit = (/** @type {string} */ from, /** @type {string} */ name) => {
    // As Node looks packages up: beside the one that asks, then further out.
    for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
      const path = `${folder ? `${folder}/` : ''}node_modules/${name}`;
      const entry = lock[path];
      if (entry) {
        if (found.has(path)) return;
        found.add(path);
        for (const next of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies })) visit(path, next);
        return;
      }
      if (folder === '') return;
    }
  };
  for (const name of names) visit('', name);
  return found;
}

/** The installed package's own word first. @param {string} path @param {LockEntry} entry */
function licenceOf(path, entry) {
  const file = join(ROOT, path, 'package.json');
  const own = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).license : undefined;
  return typeof own === 'string' ? own : (entry.license ?? 'not stated');
}

/** True when every licence of an SPDX expression is in the list (with OR, one of them). @param {string} license @param {readonly string[]} allowed */
export function isAllowed(license, allowed) {
  const plain = license.replace(/[()]/g, '');
  return plain.split(' OR ').some((side) => side.split(' AND ').every((part) => allowed.includes(part.trim())));
}

/** @param {Licensed[]} list */
export function licensesMarkdown(list) {
  const table = (/** @type {'page' | 'build'} */ part) => [
    '| package | version | licence |', '|---|---|---|',
    ...list.filter((item) => item.part === part).map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`),
  ];
  const count = (/** @type {'page' | 'build'} */ part) => list.filter((item) => item.part === part).length;
  return [
    '# Licences', '',
    'Ratioscope itself is under the MIT licence ([LICENSE](../LICENSE)). What `npm start` installs beside it stands here, from the packages\u2019 own statements.',
    'Written by `node scripts/licenses.mjs`; a test holds this page to package.json and every licence to a list.', '',
    '## In the page', '',
    `${count('page')} packages whose code or fonts may be part of the built page, or which those declare. All are permissive.`, '', ...table('page'), '',
    '## Only for building it', '',
    `${count('build')} packages that run on the machine that builds, with their variants for other systems. Nothing of them is in the page; those under MPL-2.0 are used unchanged.`, '', ...table('build'), '',
  ].join('\n');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const list = licensed();
  writeFileSync(PAGE, licensesMarkdown(list));
  console.log(`docs/licenses.md: ${list.length} packages`);
}
