// @ts-check
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

/**
 * Runs a program with its output on our own stdout and stderr, and without stdin.
 * @param {string} file
 * @param {string[]} args
 * @param {{ env?: Record<string, string | undefined>, shell?: boolean, timeoutMs?: number }} [options]
 * @returns {Promise<number>} exit code; 124 when it ran past `timeoutMs`, 127 when it could not start
 */
export function run(file, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...options.env },
      shell: options.shell ?? false,
    });
    let late = false;
    const timer = options.timeoutMs
      ? setTimeout(() => {
          late = true;
          child.kill('SIGKILL');
        }, options.timeoutMs)
      : undefined;
    const finish = (/** @type {number} */ code) => {
      clearTimeout(timer);
      resolve(late ? 124 : code);
    };
    child.on('error', (error) => {
      console.error(`${file}: ${error.message}`);
      finish(127);
    });
    child.on('close', (code, signal) => finish(code ?? (signal ? 1 : 0)));
  });
}

/**
 * Runs a program of node_modules with this very Node, so that it works without a shell on every system.
 * @param {string} script path inside node_modules
 * @param {string[]} args
 * @param {Parameters<typeof run>[2]} [options]
 */
export function runModule(script, args, options) {
  return run(process.execPath, [join(ROOT, 'node_modules', script), ...args], options);
}

/**
 * Runs npm: the copy that started us when there is one, else the one on PATH.
 * @param {string[]} args
 */
export function runNpm(args) {
  const cli = process.env.npm_execpath;
  if (cli && /npm-cli\.c?js$/.test(cli) && existsSync(cli)) return run(process.execPath, [cli, ...args]);
  // On Windows npm is a .cmd file, which only a shell can start; the arguments are constants of ours.
  return process.platform === 'win32' ? run('npm.cmd', args, { shell: true }) : run('npm', args);
}

/** @param {number} ms */
export function seconds(ms) {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
