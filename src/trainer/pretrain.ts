import type { WebGpuEngine } from '../engines/webgpu';
import type { Recipe } from '../model/manifest';
import { sftBatch } from '../tasks/corpus';
import type { Task } from '../tasks/task';
import { packRows } from './batch';

/** How the shipped policies are made (experiments.md section 8, "SFT"): warm-up, then linear decay to a tenth. */
export const PRETRAIN_RECIPES: Record<'main' | 'small', Recipe> = {
  main: { steps: 1500, batch: 64, learningRate: 3e-3, warmupSteps: 50, beta1: 0.9, beta2: 0.98, weightDecay: 0.01, maxGradNorm: 1 },
  small: { steps: 3000, batch: 64, learningRate: 3e-3, warmupSteps: 50, beta1: 0.9, beta2: 0.98, weightDecay: 0.01, maxGradNorm: 1 },
};

/** Updates between two readbacks of the loss. */
const REPORT_EVERY = 20;

/**
 * Supervised training on the task's worked examples (bad habit included); cross-entropy averaged over response tokens.
 * The engine's parameters are the start and the end. `onReport` hears the mean loss (nats per token) of the last updates.
 */
export async function pretrain(engine: WebGpuEngine, task: Task, seed: number, recipe: Recipe, onReport: (step: number, loss: number) => void): Promise<void> {
  for (let step = 1; step <= recipe.steps; step++) {
    const examples = sftBatch(task, seed, step, recipe.batch);
    const batch = packRows({ ...examples, maxNewTokens: task.maxNewTokens }, [...Array(recipe.batch).keys()]);
    const targets = examples.lengths.reduce((a, b) => a + b, 0);
    engine.supervisedUpdate(batch, {
      coefficient: -1 / targets,
      learningRate: recipe.learningRate * Math.min(1, step / recipe.warmupSteps) * (1 - (0.9 * step) / recipe.steps),
      beta1: recipe.beta1,
      beta2: recipe.beta2,
      adamEps: 1e-8,
      weightDecay: recipe.weightDecay,
      maxGradNorm: recipe.maxGradNorm,
      temperature: 1,
    });
    if (step % REPORT_EVERY === 0 || step === recipe.steps) {
      const records = await engine.collect();
      const tokens = records.reduce((n, r) => n + r.newLogp.reduce((k, v) => k + (v !== 0 ? 1 : 0), 0), 0);
      onReport(step, -records.reduce((a, r) => a + r.newLogp.reduce((x, y) => x + y, 0), 0) / tokens);
    }
  }
}
