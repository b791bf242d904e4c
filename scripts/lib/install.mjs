// @ts-check
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';
import { runNpm, seconds } from './process.mjs';

/** @param {string} path @returns {any} */
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Ends with one clear line when this Node cannot run the build. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Ratioscope needs Node 20.19 or newer; this is ${process.versions.node}. Install a newer one from nodejs.org.`);
  process.exit(1);
}

/**
 * Packages of package.json that node_modules lacks or holds in another version.
 * @param {('dependencies' | 'devDependencies')[]} groups
 * @returns {string[]}
 */
export function missingPackages(groups) {
  const manifest = readJson(join(ROOT, 'package.json'));
  const wanted = groups.flatMap((group) => Object.entries(manifest[group] ?? {}));
  return wanted
    .filter(([name, version]) => {
      try {
        return readJson(join(ROOT, 'node_modules', name, 'package.json')).version !== version;
      } catch {
        return true;
      }
    })
    .map(([name]) => name);
}

/** How many packages `npm ci` will place on this system. @param {boolean} omitDev */
function expectedCount(omitDev) {
  const lock = readJson(join(ROOT, 'package-lock.json'));
  const here = (/** @type {string[] | undefined} */ list, /** @type {string} */ value) => !list || list.includes(value);
  return Object.entries(lock.packages).filter(
    ([path, entry]) => path !== '' && here(entry.os, process.platform) && here(entry.cpu, process.arch) && !(omitDev && (entry.dev || entry.devOptional)),
  ).length;
}

/** Packages at the top level of node_modules so far. */
function installedCount() {
  try {
    return readdirSync(join(ROOT, 'node_modules')).flatMap((name) => {
      if (name.startsWith('.')) return [];
      return name.startsWith('@') ? readdirSync(join(ROOT, 'node_modules', name)) : [name];
    }).length;
  } catch {
    return 0;
  }
}

/**
 * `npm ci` with a line of progress every few seconds (npm itself is silent without a terminal).
 * @param {{ omitDev: boolean }} options
 * @returns {Promise<number>} npm's exit code
 */
export async function install({ omitDev }) {
  const start = Date.now();
  const total = expectedCount(omitDev);
  console.log(`Installing ${total} packages ${omitDev ? '(only what the page needs)' : '(page, headless engine and tests)'} ...`);
  const timer = setInterval(() => {
    console.log(`  ${Math.min(installedCount(), total)} of about ${total} packages in place, ${seconds(Date.now() - start)}`);
  }, 5000);
  const code = await runNpm(['ci', ...(omitDev ? ['--omit=dev'] : []), '--no-audit', '--no-fund', '--loglevel=error']);
  clearInterval(timer);
  console.log(code === 0 ? `Installed in ${seconds(Date.now() - start)}.` : `npm ci failed with exit code ${code}; its message stands above. Check the network connection and try again.`);
  return code;
}
