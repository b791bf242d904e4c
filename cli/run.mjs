// @ts-check
// Launcher of the command line: bundles cli/main.ts with Vite when a source has changed, then runs it.
// Nothing but the command's own output goes to stdout.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dawnEnvironment } from '../scripts/lib/chromium.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'ratioscope');
const DAY_MS = 86_400_000;

/** A key that changes with any file that the bundle is made of. */
function sourceKey() {
  const hash = createHash('sha256');
  /** @param {string} path */
  const visit = (path) => {
    const stat = statSync(path);
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else hash.update(`${path}|${stat.size}|${stat.mtimeMs}\n`);
  };
  for (const path of ['src', 'cli', 'bench/lib', 'package-lock.json']) visit(join(ROOT, path));
  return hash.digest('hex').slice(0, 16);
}

/**
 * Bundles into a folder of its own and moves it into place, so that two launches at once cannot disturb each other.
 * @param {string} folder
 */
async function build(folder) {
  let vite;
  try {
    vite = await import('vite');
  } catch {
    process.stderr.write('The packages are not installed. Run `npm start` or `npm install` first.\n');
    process.exit(1);
  }
  if (process.stderr.isTTY) process.stderr.write('Building the command line...\n');
  mkdirSync(CACHE, { recursive: true });
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    if (Date.now() - statSync(path).mtimeMs > DAY_MS) rmSync(path, { recursive: true, force: true });
  }
  const temporary = mkdtempSync(join(CACHE, 'building-'));
  await vite.build({
    root: ROOT,
    configFile: false,
    logLevel: 'silent',
    publicDir: false,
    ssr: { external: ['webgpu', 'onnxruntime-web'] },
    build: { ssr: join(ROOT, 'cli', 'main.ts'), outDir: temporary, target: 'node20', minify: false, rolldownOptions: { output: { entryFileNames: 'main.mjs', chunkFileNames: '[name]-[hash].mjs' } } },
  });
  try {
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(join(folder, 'main.mjs'))) throw error;
  }
}

/** True for commands that open a WebGPU device. @param {string[]} argv */
const needsGpu = (argv) => ['train', 'pretrain', 'table', 'bench'].includes(argv[0]) || argv.some((arg) => arg === 'webgpu' || arg === '--device=webgpu');

/** Variables that Dawn lacks to find an adapter here. A driver that a person chose stays; its folder may hold the loader too. */
function missingEnvironment() {
  const driver = process.env.VK_ICD_FILENAMES;
  if (!driver) return dawnEnvironment({ preferHardware: true });
  const folder = dirname(driver);
  const known = (process.env.LD_LIBRARY_PATH ?? '').split(':');
  return existsSync(join(folder, 'libvulkan.so.1')) && !known.includes(folder) ? { LD_LIBRARY_PATH: [folder, ...known].filter(Boolean).join(':') } : {};
}

/**
 * The dynamic loader reads its variables once, so they need a process of their own.
 * @param {Record<string, string>} environment
 * @returns {Promise<number>} its exit code
 */
function runAgain(environment) {
  // Ctrl-C reaches the child as well; it decides how to end.
  process.on('SIGINT', () => {});
  const child = spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit', env: { ...process.env, ...environment } });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

const argv = process.argv.slice(2);
const missing = needsGpu(argv) ? missingEnvironment() : {};
if (Object.keys(missing).length > 0) {
  process.exitCode = await runAgain(missing);
} else {
  const folder = join(CACHE, sourceKey());
  if (!existsSync(join(folder, 'main.mjs'))) await build(folder);
  const { main } = await import(pathToFileURL(join(folder, 'main.mjs')).href);
  process.exitCode = await main(argv);
}
