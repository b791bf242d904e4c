import { data, TeachableLLM } from '@genai-fi/nanogpt';
import { modelOf } from '../lib/work';
import type { CellSpec, Subject, Work } from '../lib/types';

/**
 * @genai-fi/nanogpt: its own model of the same size (tied head, squared norms of its own), its own data pipeline and
 * AdamW, on its own copy of TensorFlow.js with extra WebGPU kernels. The same amount of work, not the same numbers.
 */
export async function nanogptSubject(): Promise<Subject> {
  await TeachableLLM.selectBackend('webgpu');
  return {
    adapter: '',
    open: (cell, report) => {
      if (cell.kind === 'train') return openTrain(cell, report ?? (() => {}));
      if (cell.kind === 'matmul') throw new Error('it exports no matrix product');
      if (cell.kind === 'decode') throw new Error('it generates one sequence at a time: there is no batch of 128 rows to ask for');
      throw new Error('it has no RL iteration');
    },
  };
}

const CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

async function openTrain(cell: Extract<CellSpec, { kind: 'train' }>, report: (stage: string) => void): Promise<Work> {
  const { C, L, H, V, T } = modelOf(cell.model);
  const model = TeachableLLM.create('char', { modelType: 'GenAI_NanoGPT_v1', useRope: true, vocabSize: V, blockSize: T, nLayer: L, nHead: H, nEmbed: C, mlpFactor: 4 });
  report('its warm-up pass');
  await new Promise<void>((resolve, reject) => {
    model.on('loaded', () => resolve());
    model.on('error', reject);
  });
  // An epoch is as many whole batches as the text holds, whatever epochSteps says: one here.
  const content = Array.from({ length: Math.floor(1.5 * cell.rows * T) }, (_, i) => CHARACTERS[(i * i + 7 * i) % CHARACTERS.length]).join('');
  const streams = [new data.MemoryConversationStream([[{ role: 'text', content }]])];
  await model.trainTokeniser(streams);

  // A job of a single step makes the trainer, the data and the optimiser; after it, its own step function is timed.
  report('preparing its data');
  const finished = new Promise<void>((resolve, reject) => {
    model.training.on('completed', () => resolve());
    model.training.on('error', (_, error) => reject(error));
  });
  const job = await model.training.job(
    { method: { type: 'pretraining' }, batchSize: cell.rows, maxEpochs: 1, epochSteps: 1, logInterval: 1, learningRate: 1e-3, weightDecay: 0.01 },
    streams,
    [{ id: 'bench', name: 'bench' } as Parameters<typeof model.training.job>[2][number]],
  );
  report('its first training step');
  await finished;
  const dataset = job.trainDataset;
  if (!dataset) throw new Error('its training job has no data');
  let iterator = await dataset.iterator();
  type Loss = { data(): Promise<ArrayLike<number>>; dispose(): void };
  const trainer = job.trainer as unknown as { trainStep(state: object, batch: unknown): Loss };
  const step = async (): Promise<number> => {
    let next = await iterator.next();
    if (next.done) {
      iterator = await dataset.iterator();
      next = await iterator.next();
    }
    const batch = next.value;
    if (next.done) throw new Error('its data ended at once');
    const [rows, length] = batch.xs.shape;
    if (rows !== cell.rows || length !== T) throw new Error(`its batch is ${rows} x ${length}`);
    const started = performance.now();
    const loss = trainer.trainStep({}, batch);
    const value = (await loss.data())[0];
    const ms = performance.now() - started;
    loss.dispose();
    batch.xs.dispose();
    batch.ys.dispose();
    if (!Number.isFinite(value)) throw new Error('its loss is not finite');
    return ms;
  };
  return {
    proof: { kind: 'none', why: `its own model of ${model.getNumParams()} parameters` },
    run: async () => ({ ms: await step() }),
    dispose: () => {},
  };
}
