// @ts-check
// Holds the layers of ARCHITECTURE.md: who may import whom, no cycles, and which folder alone may touch WebGPU,
// onnxruntime-web, KaTeX and recharts. Prints file:line and the rule; exit code 1 when one is broken.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lib/paths.mjs';

/**
 * What each layer may import besides itself. `import type` counts like any other import, except from
 * src/objectives/types (the contract of the coefficient), which every layer may name.
 * @type {Record<string, string[]>}
 */
export const LAYERS = {
  core: [],
  objectives: ['core'],
  tasks: ['core'],
  gpu: ['core'],
  kernels: ['core', 'gpu'],
  model: ['core', 'gpu', 'kernels'],
  engines: ['core', 'gpu', 'kernels', 'model'],
  config: ['core', 'objectives', 'tasks', 'model', 'engines'],
  trainer: ['core', 'objectives', 'tasks', 'kernels', 'model', 'engines', 'config'],
  worker: ['core', 'objectives', 'tasks', 'gpu', 'kernels', 'model', 'engines', 'config', 'trainer'],
  lens: ['core', 'objectives', 'config'],
  interop: ['core', 'objectives', 'config'],
  lessons: ['core', 'objectives', 'config'],
  store: ['core', 'objectives', 'tasks', 'config', 'worker', 'lens'],
  ui: ['core', 'objectives', 'tasks', 'config', 'store', 'lens', 'lessons', 'interop'],
};

/** Types of the worker's protocol that reach the page's state; of `model` and `engines` the page sees types only. */
const TYPE_ONLY = {
  ui: ['worker', 'engines', 'model'],
  store: ['engines', 'model'],
  lens: ['worker', 'engines'],
  interop: ['worker'],
  lessons: ['worker'],
};

/** Where alone a package may be imported. @type {{ test: RegExp, allowed: RegExp, rule: string }[]} */
const PACKAGE_RULES = [
  { test: /^onnxruntime-web/, allowed: /^src\/engines\/ort/, rule: 'onnxruntime-web only in src/engines/ort*' },
  { test: /^@tensorflow\//, allowed: /^src\/engines\/tfjs/, rule: '@tensorflow only in src/engines/tfjs*' },
  { test: /^(katex|recharts)(\/|$)/, allowed: /^src\/ui\//, rule: 'katex and recharts only in src/ui' },
  { test: /^react(-dom)?(\/|$)/, allowed: /^src\/(ui\/|main\.tsx$)/, rule: 'react only in src/ui and src/main.tsx' },
  { test: /^zustand(\/|$)/, allowed: /^src\/(store|ui)\//, rule: 'zustand only in src/store and src/ui' },
  { test: /^@(codemirror|lezer)\//, allowed: /^src\/ui\/editor\//, rule: 'CodeMirror only in src/ui/editor' },
  { test: /^webgpu$/, allowed: /^(cli\/|src\/gpu\/nodeGpu\.ts$)/, rule: 'the npm package webgpu (Dawn) only in src/gpu/nodeGpu.ts, cli and tests' },
  { test: /^node:/, allowed: /^cli\//, rule: 'Node modules only in cli' },
];

/** Where alone a piece of text may stand in code. */
const TEXT_RULES = [
  { test: /\bnavigator\s*\.\s*gpu\b/, allowed: /^src\/gpu\//, rule: 'navigator.gpu only in src/gpu' },
  { test: /\b(document|window)\s*\./, forbidden: /^src\/(core|objectives|tasks|kernels|model|config|trainer)\//, rule: 'no DOM below the worker' },
];

/**
 * The text with comments (and, if asked, strings) blanked out, line numbers kept.
 * @param {string} source
 * @param {boolean} strings
 */
export function stripComments(source, strings = false) {
  const blank = (/** @type {string} */ text) => text.replace(/[^\n]/g, ' ');
  return source.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g, (match) =>
    match.startsWith('/') || strings ? blank(match) : match,
  );
}

/**
 * @typedef {{ specifier: string, typeOnly: boolean, line: number }} Import
 * @param {string} source
 * @returns {Import[]}
 */
export function importsOf(source) {
  const text = stripComments(source);
  const found = /** @type {Import[]} */ ([]);
  const add = (/** @type {RegExpMatchArray} */ match, /** @type {string} */ specifier, /** @type {boolean} */ typeOnly) =>
    found.push({ specifier, typeOnly, line: text.slice(0, match.index).split('\n').length });
  for (const match of text.matchAll(/\b(import|export)\s+(type\s+)?((?:[\w$*\s{},]|\bas\b)*?)\bfrom\s*['"]([^'"]+)['"]/g)) {
    // `import { type A }` still loads the module (verbatimModuleSyntax); only `import type` vanishes.
    add(match, /** @type {string} */ (match[4]), Boolean(match[2]));
  }
  for (const match of text.matchAll(/\bimport\s*['"]([^'"]+)['"]/g)) add(match, /** @type {string} */ (match[1]), false);
  for (const match of text.matchAll(/\bimport\s*\(\s*['"]([^'"]+)['"]\s*\)/g)) add(match, /** @type {string} */ (match[1]), false);
  for (const match of text.matchAll(/\bnew\s+URL\s*\(\s*['"](\.[^'"]+\.ts)['"]/g)) add(match, /** @type {string} */ (match[1]), false);
  return found;
}

/** @param {string} path @returns {string[]} */
function filesBelow(path) {
  if (!existsSync(path)) return [];
  return readdirSync(path).flatMap((name) => {
    const child = join(path, name);
    if (statSync(child).isDirectory()) return filesBelow(child);
    return /\.(ts|tsx|mjs)$/.test(name) && !name.endsWith('.d.ts') ? [child] : [];
  });
}

/** @param {string} file src/ui/App.tsx @returns {string | null} ui; null outside src and for src/main.tsx */
const layerOf = (file) => /^src\/([^/]+)\//.exec(file)?.[1] ?? null;

/**
 * @param {Map<string, string>} sources text by path relative to the root, with forward slashes
 * @returns {{ file: string, line: number, rule: string }[]}
 */
export function checkSources(sources) {
  const problems = /** @type {{ file: string, line: number, rule: string }[]} */ ([]);
  const graph = /** @type {Map<string, { to: string, line: number }[]>} */ (new Map());
  const resolveImport = (/** @type {string} */ from, /** @type {string} */ specifier) => {
    const base = posix.normalize(posix.join(posix.dirname(from), specifier.replace(/\?.*$/, '')));
    return [base, `${base}.ts`, `${base}.tsx`, `${base}.mjs`, `${base}/index.ts`, `${base}/index.tsx`].find((path) => sources.has(path)) ?? null;
  };

  for (const [file, source] of sources) {
    const layer = layerOf(file);
    const edges = /** @type {{ to: string, line: number }[]} */ ([]);
    graph.set(file, edges);
    for (const { specifier, typeOnly, line } of importsOf(source)) {
      if (!specifier.startsWith('.')) {
        for (const { test, allowed, rule } of PACKAGE_RULES) if (test.test(specifier) && !allowed.test(file)) problems.push({ file, line, rule });
        continue;
      }
      const target = resolveImport(file, specifier);
      if (target === null) {
        // The command line shares the search for browser and drivers with the scripts, and runs the benchmarks; neither is part of the layers.
        if (file.startsWith('cli/') && /^\.\.\/(scripts|bench)\/lib\//.test(specifier)) continue;
        if (!/\.(wgsl|css|json|svg|png|onnx|wasm|woff2)(\?|$)/.test(specifier)) problems.push({ file, line, rule: `import of ${specifier}: no such file` });
        continue;
      }
      // Types vanish from the program, so they make no cycle at run time.
      if (!typeOnly) edges.push({ to: target, line });
      const targetLayer = layerOf(target);
      if (layer === null || targetLayer === layer) {
        if (layer !== null && targetLayer === null) problems.push({ file, line, rule: `src/${layer} must not import ${target}` });
        continue;
      }
      if (layer !== null && targetLayer === null) {
        problems.push({ file, line, rule: `src/${layer} must not import ${target}` });
        continue;
      }
      if (typeOnly && target === 'src/objectives/types.ts') continue;
      const allowed = LAYERS[layer];
      const typesAllowed = /** @type {Record<string, string[]>} */ (TYPE_ONLY)[layer] ?? [];
      if (!allowed) problems.push({ file, line, rule: `src/${layer} is no known layer; add it to scripts/check-imports.mjs and ARCHITECTURE.md` });
      else if (!allowed.includes(/** @type {string} */ (targetLayer)) && !(typeOnly && typesAllowed.includes(/** @type {string} */ (targetLayer)))) {
        problems.push({ file, line, rule: `${layer} may import ${allowed.join(', ') || 'nothing of ours'}${typesAllowed.length ? ` (types also from ${typesAllowed.join(', ')})` : ''}, not ${targetLayer} (${specifier})` });
      }
    }
    const code = stripComments(source, true).split('\n');
    for (const rule of TEXT_RULES) {
      const here = rule.forbidden ? rule.forbidden.test(file) : !rule.allowed?.test(file);
      if (here && file.startsWith('src/')) code.forEach((text, i) => rule.test.test(text) && problems.push({ file, line: i + 1, rule: rule.rule }));
    }
  }
  return [...problems, ...cycles(graph)].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
}

/**
 * One problem per cycle of run-time imports, found by depth-first search.
 * @param {Map<string, { to: string, line: number }[]>} graph
 */
function cycles(graph) {
  const problems = /** @type {{ file: string, line: number, rule: string }[]} */ ([]);
  const state = /** @type {Map<string, 'open' | 'done'>} */ (new Map());
  const path = /** @type {string[]} */ ([]);
  const visit = (/** @type {string} */ file) => {
    state.set(file, 'open');
    path.push(file);
    for (const { to, line } of graph.get(file) ?? []) {
      if (state.get(to) === 'open') problems.push({ file, line, rule: `import cycle: ${[...path.slice(path.indexOf(to)), to].join(' -> ')}` });
      else if (!state.has(to)) visit(to);
    }
    path.pop();
    state.set(file, 'done');
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file);
  return problems;
}

/** Reads src and cli. */
export function readSources() {
  const files = ['src', 'cli'].flatMap((folder) => filesBelow(join(ROOT, folder)));
  return new Map(files.map((file) => [relative(ROOT, file).split(sep).join('/'), readFileSync(file, 'utf8')]));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const sources = readSources();
  const problems = checkSources(sources);
  for (const { file, line, rule } of problems) console.error(`${file}:${line}: ${rule}`);
  console.log(`Import rules: ${sources.size} files, ${problems.length} broken rules.`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
