import { readFile } from 'node:fs/promises';
import { createWebGpuEngine, type WebGpuEngine } from '../src/engines/webgpu';
import type { ReferencePolicy } from '../src/engines/engine';
import { requestNodeGpu } from '../src/gpu/nodeGpu';
import { MODEL_CONFIGS, type ModelId } from '../src/model/config';
import { loadPolicy, type LoadedPolicy } from '../src/model/manifest';
import type { RunConfig } from '../src/config/runConfig';
import { getTask } from '../src/tasks';
import { evaluateHeldOut, type Evaluation } from '../src/trainer/evaluate';
import type { EvalReport, StepReport } from '../src/trainer/report';
import { Trainer } from '../src/trainer/trainer';

/** Where the shipped base policies lie, from the project's folder. */
export const MODELS_FOLDER = 'public/models/';

export interface HeadlessEvents {
  onStep?: (report: StepReport) => void;
  onEval?: (report: EvalReport) => void;
  onActivity?: (message: string) => void;
}

export interface HeadlessResult {
  reports: StepReport[];
  /** Held-out prompts at temperature 1 and greedy, after the last step. */
  sampled: Evaluation;
  greedy: Evaluation;
  /** Wall time of the steps alone, seconds. */
  seconds: number;
}

/** One engine without a browser, for as many runs as wanted: the same trainer that the page's worker runs. */
export class HeadlessTrainer {
  private readonly engine: WebGpuEngine;
  private readonly model: ModelId;
  private readonly modelsUrl: string;

  private constructor(engine: WebGpuEngine, model: ModelId, modelsUrl: string) {
    this.engine = engine;
    this.model = model;
    this.modelsUrl = modelsUrl;
  }

  /** Opens Dawn's device and compiles the engine. Throws UserError where that is impossible. */
  static async open(model: ModelId, modelsFolder = MODELS_FOLDER): Promise<HeadlessTrainer> {
    const engine = await createWebGpuEngine(await requestNodeGpu(), MODEL_CONFIGS[model]);
    return new HeadlessTrainer(engine, model, modelsFolder.endsWith('/') ? modelsFolder : `${modelsFolder}/`);
  }

  /** A name for the adapter, e.g. "Google SwiftShader (software)". */
  get adapter(): string {
    return adapterName(this.engine.ctx.facts);
  }

  /** Trains from the base policy for config.totalSteps iterations, then evaluates on `evalPrompts` held-out prompts. */
  async train(config: RunConfig, evalPrompts: number, events: HeadlessEvents = {}): Promise<HeadlessResult> {
    const task = getTask(config.task);
    const policy = await loadPolicy(this.modelsUrl, this.model, config.task, { fetchFile: readAsResponse });
    this.engine.loadParams(policy.params);
    let reference: ReferencePolicy | null = null;
    const trainer = new Trainer(this.engine, task, config, {
      loadReference: async () => (reference ??= await this.loadReference(policy)),
      onActivity: (activity, message) => {
        if (activity !== 'running') events.onActivity?.(message);
      },
    });
    await trainer.prepare();
    const reports: StepReport[] = [];
    let milliseconds = 0;
    const evaluate = async (): Promise<void> => events.onEval?.((await trainer.evaluate()).report);
    if (config.evalEvery > 0) await evaluate();
    while (trainer.step < config.totalSteps) {
      const { report } = await trainer.runStep();
      milliseconds += report.ms.total;
      reports.push(report);
      events.onStep?.(report);
      if (config.evalEvery > 0 && trainer.step % config.evalEvery === 0) await evaluate();
    }
    const options = { prompts: evalPrompts, seed: config.seed };
    const sampled = await evaluateHeldOut(this.engine, task, { ...options, greedy: false });
    const greedy = await evaluateHeldOut(this.engine, task, { ...options, greedy: true });
    // A reference that a callback assigned is invisible to the type checker's flow.
    await (reference as ReferencePolicy | null)?.destroy();
    return { reports, sampled, greedy, seconds: milliseconds / 1000 };
  }

  destroy(): void {
    this.engine.destroy();
  }

  private async loadReference(policy: LoadedPolicy): Promise<ReferencePolicy> {
    const { createOrtReference, providerFor } = await import('../src/engines/ortReference');
    const { ctx, config } = this.engine;
    return createOrtReference({ modelBytes: policy.bytes, config, provider: providerFor(ctx.facts), gpu: ctx });
  }
}

/** A file as if it had been fetched. */
async function readAsResponse(path: string): Promise<Response> {
  return new Response(await readFile(path));
}

function adapterName(facts: { vendor: string; architecture: string; device: string; description: string; software: boolean }): string {
  const name = facts.description || [facts.vendor, facts.architecture].filter(Boolean).join(' ') || facts.device || 'unnamed adapter';
  return facts.software ? `${name} (software)` : name;
}
