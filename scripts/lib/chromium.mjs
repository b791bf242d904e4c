// @ts-check
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { run } from './process.mjs';

/** Arguments with which full Chromium (not the headless shell) offers WebGPU on its software adapter; the defaults offer none. */
export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--enable-unsafe-swiftshader',
];

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const FIXED_PLACES = {
  linux: ['/usr/bin', '/usr/local/bin', '/snap/bin'],
  darwin: [],
  win32: [],
};
const APPLICATIONS = {
  linux: [],
  darwin: ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium'],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe', 'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe'],
};

/** @param {string} path */
function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Chromium as `npx playwright-core install chromium` leaves it, on Linux. */
function playwrightBrowsers() {
  const cache = join(homedir(), '.cache', 'ms-playwright');
  if (process.platform !== 'linux' || !existsSync(cache)) return [];
  return readdirSync(cache)
    .filter((name) => /^chromium-\d+$/.test(name))
    .flatMap((name) => ['chrome-linux', 'chrome-linux64'].map((folder) => join(cache, name, folder, 'chrome')));
}

/** Path of a Chromium or Chrome (CHROMIUM_PATH first), or null. @returns {string | null} */
export function findChromium() {
  const chosen = process.env.CHROMIUM_PATH;
  if (chosen) return executable(chosen) ? chosen : null;
  const platform = /** @type {'linux' | 'darwin' | 'win32'} */ (process.platform);
  const folders = [...(FIXED_PLACES[platform] ?? []), ...(process.env.PATH ?? '').split(delimiter)].filter(Boolean);
  const candidates = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...(APPLICATIONS[platform] ?? []), ...playwrightBrowsers()];
  return candidates.find(executable) ?? null;
}

/**
 * A browser for the tests, installed by apt when there is none, the system is Debian-like and we are root.
 * @returns {Promise<string | null>} its path; null after having said in one line what to install
 */
export async function ensureChromium() {
  const found = findChromium();
  if (found) return found;
  if (process.env.CHROMIUM_PATH) {
    console.error(`CHROMIUM_PATH is ${process.env.CHROMIUM_PATH}, which cannot be run. Point it at a Chromium or Chrome, or unset it.`);
    return null;
  }
  if (process.platform === 'linux' && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0) {
    console.log('No Chromium found; installing it with apt-get (about 100 MB) ...');
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    const code = (await run('apt-get', ['update', '-qq'], { env })) || (await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env }));
    const installed = findChromium();
    if (code === 0 && installed) return installed;
  }
  console.error('No Chromium found. Install one (Debian: sudo apt-get install chromium; other Linux: npx playwright-core install --with-deps chromium; elsewhere Chrome itself), or set CHROMIUM_PATH, and run npm test again.');
  return null;
}

/** Folders in which a Chromium may keep its SwiftShader driver and Vulkan loader. */
function driverFolders() {
  const browser = process.platform === 'linux' ? findChromium() : null;
  return [...(browser ? [dirname(realpathSync(browser))] : []), '/usr/lib/chromium', '/usr/lib/chromium-browser', '/opt/google/chrome', '/usr/lib64/chromium-browser'];
}

/** True when the system has a Vulkan loader and the driver of a real GPU. Dawn does not accept Mesa's lavapipe. */
function hasHardwareVulkan() {
  const drivers = ['/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d'].flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []));
  return existsSync('/dev/dri') && drivers.some((name) => !/lvp|lavapipe|swiftshader/.test(name));
}

/**
 * Environment variables under which Dawn (the npm package `webgpu`) finds an adapter on Linux. They must be set before
 * the Node process that uses it starts: the dynamic loader reads them once. Chromium brings both the Vulkan loader and
 * the SwiftShader driver, so that nothing else need be installed. A VK_ICD_FILENAMES of the user's own is respected.
 * @param {{ preferHardware?: boolean }} [options] a real GPU's driver when there is one (default: software, which is
 *   the same on every machine)
 * @returns {Record<string, string>} empty where nothing is needed
 */
export function dawnEnvironment({ preferHardware = false } = {}) {
  if (process.platform !== 'linux' || process.env.VK_ICD_FILENAMES) return {};
  if (preferHardware && hasHardwareVulkan()) return {};
  const folder = driverFolders().find((candidate) => existsSync(join(candidate, 'vk_swiftshader_icd.json')));
  if (!folder) return {};
  return {
    VK_ICD_FILENAMES: join(folder, 'vk_swiftshader_icd.json'),
    LD_LIBRARY_PATH: [folder, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
    XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
  };
}
