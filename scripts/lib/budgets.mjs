// @ts-check

/**
 * KB of gzip that each script of the build may have, by its name without the hash. A script that is not named here is a small
 * one: what grows past `SMALL` needs a line and a reason.
 * @type {Record<string, number>}
 */
export const BUDGETS = {
  // Everything before the first picture; `entry` of npm test holds it together with what it preloads.
  index: 130,
  'jsx-runtime': 6,
  numbers: 40,
  LazyTex: 20,
  // Fetched when they are needed: charts, formulas, lens, editor, the workers.
  RewardChart: 120,
  Tex: 90,
  LensView: 55,
  EditorDialog: 140,
  'trainer.worker': 100,
  'lens.worker': 60,
  // onnxruntime-web, only for KL; tfjs, only without WebGPU (its packages all call their file `dist`).
  'ort.wasm.bundle.min': 32,
  'ort.jspi.bundle.min': 45,
  'ort.webgpu.bundle.min': 45,
  dist: 95,
  tfjsBackend: 24,
};

/** KB of gzip for any other script. */
export const SMALL = 20;

/**
 * Name of a built script without folder and hash: assets/LensView-CLeBKv1t.js is LensView.
 * @param {string} path
 */
export function chunkName(path) {
  return path.replace(/^.*\//, '').replace(/-[\w-]{8}\.js$/, '');
}

/**
 * Scripts over their budget, in words.
 * @param {readonly { path: string, gzip: number }[]} scripts bytes
 * @returns {string[]}
 */
export function overBudget(scripts) {
  return scripts.flatMap(({ path, gzip }) => {
    const budget = Object.hasOwn(BUDGETS, chunkName(path)) ? /** @type {number} */ (BUDGETS[chunkName(path)]) : SMALL;
    return gzip < budget * 1024 ? [] : [`${path} is ${(gzip / 1024).toFixed(1)} KB gzip, its budget ${budget}`];
  });
}

/**
 * Budgets of scripts that the build no longer has: a renamed script would pass as a small one, or stay unwatched.
 * @param {readonly { path: string }[]} scripts
 * @returns {string[]}
 */
export function unusedBudgets(scripts) {
  const names = new Set(scripts.map(({ path }) => chunkName(path)));
  return Object.keys(BUDGETS).filter((name) => !names.has(name));
}
