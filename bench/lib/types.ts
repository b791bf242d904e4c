import type { ModelConfig } from '../../src/model/config';

/** Who is measured. `native` is our engine on Dawn in Node, without a browser. */
export const SUBJECTS = ['ours', 'jax', 'tfjs', 'nanogpt'] as const;
export type SubjectId = (typeof SUBJECTS)[number];

export type CellSpec =
  | { kind: 'matmul'; n: number }
  | { kind: 'train'; model: BenchModel; rows: number }
  | { kind: 'decode'; model: BenchModel; rows: number; tokens: number }
  | { kind: 'iteration'; model: 'main' | 'small' };

export type BenchModel = 'gpt' | 'main' | 'small';

/** One measured run. */
export interface Run {
  /** Milliseconds of one execution. */
  ms: number;
  /** Milliseconds by phase, where the work has phases. */
  phases?: Record<string, number>;
  /** What was processed: packed positions, sampled tokens. */
  counts?: Record<string, number>;
}

/** Numbers that show that the work was the same: an error, two losses, or the sampled tokens. */
export type Proof = { kind: 'error'; value: number } | { kind: 'losses'; values: number[] } | { kind: 'tokens'; values: number[] } | { kind: 'none'; why: string };

/** Work that is ready to be repeated; opening it has run it once, so that every shader is compiled. */
export interface Work {
  run(): Promise<Run>;
  proof: Proof;
  dispose(): void;
}

/** A library under test. `open` throws with a reason where it cannot do the work. */
export interface Subject {
  /** The adapter it runs on, in its own words. */
  adapter: string;
  open(cell: CellSpec, report?: (stage: string) => void): Promise<Work>;
}

export type Outcome =
  | { status: 'ok'; firstMs: number; runs: Run[]; proof: string; note?: string }
  /** `reason` is the library's own error, or why it was not asked. */
  | { status: 'failed' | 'cannot'; reason: string }
  /** Stopped by the clock; `atLeastMs`: the stage named had already taken that long. */
  | { status: 'overLimit'; stage: string; atLeastMs: number; reason: string };

export interface CellResult {
  id: string;
  /** When, at which load (1 min), by which build of ours; cells may be measured again one by one. */
  measured: { date: string; load1: number; commit: string; limitSeconds: number };
  spec: CellSpec;
  outcomes: Partial<Record<SubjectId | 'native', Outcome>>;
}

export interface BenchResult {
  date: string;
  adapter: string;
  software: boolean;
  browser: string;
  machine: { cores: number; load1: number; node: string };
  versions: Record<string, string>;
  options: { rounds: number; limitSeconds: number; quick: boolean };
  cells: CellResult[];
  profile?: ProfileResult;
}

/** Time by kernel of one update and one rollout, and how many GPU commands an iteration takes. */
export interface ProfileResult {
  model: string;
  adapter: string;
  update: { positions: number; wallMs: number; kernels: KernelTime[] };
  rollout: { tokens: number; wallMs: number; kernels: KernelTime[] };
  /** One step of the training cell that libraries are compared in. */
  training: { positions: number; wallMs: number; kernels: KernelTime[] };
  iteration: Record<string, number>;
}

export interface KernelTime {
  kernel: string;
  dispatches: number;
  ms: number;
}

export interface ModelSize {
  config: ModelConfig;
  parameters: number;
}
