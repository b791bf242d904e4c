import type { CellSpec, Proof, Run, Subject, SubjectId, Work } from '../lib/types';

/** One library in one page; the driver outside (lib/browser.ts) says what to do and holds the clock. */
export interface BenchPage {
  load(id: SubjectId): Promise<string>;
  open(cell: CellSpec): Promise<{ firstMs: number; proof: Proof }>;
  run(): Promise<Run>;
  close(): void;
  /** What is being done, for the message when the clock runs out. */
  stage: string;
}

const SUBJECTS: Record<SubjectId, () => Promise<Subject>> = {
  ours: async () => {
    const [{ ours }, { browserGpu, requestGpu }] = await Promise.all([import('../lib/ours'), import('../../src/gpu/device')]);
    return ours({ requestGpu: () => requestGpu(browserGpu()), modelsUrl: './models/' });
  },
  jax: async () => (await import('./jax')).jaxSubject(),
  tfjs: async () => (await import('./tfjs')).tfjsSubject(),
  nanogpt: async () => (await import('./nanogpt')).nanogptSubject(),
};

let subject: Subject | undefined;
let work: Work | undefined;

const page: BenchPage = {
  stage: 'loading',
  async load(id) {
    subject = await SUBJECTS[id]();
    return subject.adapter;
  },
  async open(cell) {
    page.close();
    if (!subject) throw new Error('no library is loaded');
    page.stage = 'compiling and the first run';
    const started = performance.now();
    work = await subject.open(cell, (stage) => {
      page.stage = stage;
    });
    page.stage = 'a run';
    return { firstMs: performance.now() - started, proof: work.proof };
  },
  run() {
    if (!work) throw new Error('nothing is open');
    return work.run();
  },
  close() {
    work?.dispose();
    work = undefined;
  },
};

(globalThis as unknown as { bench: BenchPage }).bench = page;
