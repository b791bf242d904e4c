import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkSources, importsOf, readSources } from '../scripts/check-imports.mjs';
import { ROOT } from '../scripts/lib/paths.mjs';

/** Files longer than the limit, each with the reason why one file is right. */
const LONG_FILES: Record<string, string> = {};
const MAX_LINES = 400;

const folders = (path: string) => (existsSync(join(ROOT, path)) ? readdirSync(join(ROOT, path), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name) : []);
const definitions = (path: string) => (existsSync(join(ROOT, path)) ? readdirSync(join(ROOT, path)).filter((name) => name.endsWith('.ts') && name !== 'shared.ts').map((name) => name.replace(/\.ts$/, '')) : []);
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Files that git knows or would add: what a clone holds. */
function projectFiles(): string[] {
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 24 } as const;
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], options).split('\n').filter((path) => path && existsSync(join(ROOT, path)));
}

describe('architecture', () => {
  test('imports go downward only, without cycles', () => {
    expect(checkSources(readSources())).toEqual([]);
  });

  test('every kernel folder holds a shader, its bindings, its f64 twin and has a test', () => {
    const kernels = folders('src/kernels');
    expect(kernels.length).toBeGreaterThan(0);
    const tests = projectFiles().filter((path) => /^tests\/.*\.test\.ts$/.test(path)).map(text).join('\n');
    for (const name of kernels) {
      const files = readdirSync(join(ROOT, 'src/kernels', name));
      expect(files, name).toEqual(expect.arrayContaining([`${name}.ts`, `${name}.cpu.ts`]));
      expect(files.some((file) => file.endsWith('.wgsl')), `${name} has a shader`).toBe(true);
      expect(tests.includes(`kernels/${name}/${name}.cpu'`), `a test holds ${name} against its twin`).toBe(true);
    }
  });

  test.each(['src/objectives', 'src/tasks'])('every definition in %s/defs stands in its index', (layer) => {
    const names = definitions(`${layer}/defs`);
    expect(names.length).toBeGreaterThan(0);
    const index = text(`${layer}/index.ts`);
    for (const name of names) expect(index, name).toContain(`./defs/${name}'`);
  });

  test('no file names the address of a package registry', () => {
    const registry = new RegExp(['registry\\.npm', 'js\\.org|registry\\.yarn', 'pkg\\.com|"resolved"\\s*:\\s*"http'].join(''));
    const offenders = projectFiles().filter((path) => /\.(ts|tsx|js|mjs|json|md|html|css|yml|yaml|npmrc)$|\.npmrc$|^\.ci\//.test(path)).filter((path) => registry.test(text(path)));
    expect(offenders).toEqual([]);
  });

  test(`files stay under ${MAX_LINES} lines, or say why not`, () => {
    const sources = projectFiles().filter((path) => /^(src|cli|bench|scripts|tests)\/.*\.(ts|tsx|mjs|css|wgsl)$/.test(path));
    const long = sources.filter((path) => text(path).split('\n').length > MAX_LINES && !LONG_FILES[path]);
    expect(long).toEqual([]);
  });

  test('the split of dependencies: what the page needs, and what only headless runs and tests need', () => {
    const { dependencies, devDependencies } = JSON.parse(text('package.json')) as Record<string, Record<string, string>>;
    const headless = ['webgpu', 'playwright-core', 'vitest', 'eslint', 'typescript', 'axe-core'];
    expect(Object.keys(dependencies ?? {}).filter((name) => headless.includes(name))).toEqual([]);
    expect(Object.keys(devDependencies ?? {})).toEqual(expect.arrayContaining(headless));
    for (const version of Object.values({ ...dependencies, ...devDependencies })) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    const imported = new Set<string>();
    for (const [path, source] of readSources()) {
      if (!path.startsWith('src/') || path === 'src/gpu/nodeGpu.ts') continue;
      for (const { specifier, typeOnly } of importsOf(source)) {
        if (!typeOnly && !specifier.startsWith('.')) imported.add(/^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
      }
    }
    expect([...imported].filter((name) => !(dependencies ?? {})[name])).toEqual([]);
  });
});
