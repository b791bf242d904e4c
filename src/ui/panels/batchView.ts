import { useMemo, useState } from 'react';
import type { BatchRecord } from '../../worker/protocol';
import type { TokenAddress } from '../charts/types';
import { useRun } from '../session';

/** Which batch, prompt and token are on show. While `step` is null the newest batch is followed. */
export interface BatchView {
  batch: BatchRecord | null;
  steps: readonly number[];
  group: number;
  selected: TokenAddress | null;
  setGroup(group: number): void;
  setStep(step: number): void;
  select(address: TokenAddress | null): void;
}

/** Holds the reader's place in the rollouts while new batches arrive. */
export function useBatchView(): BatchView {
  const batches = useRun((state) => state.batches);
  const [step, setStep] = useState<number | null>(null);
  const [group, setGroup] = useState(0);
  const [selected, select] = useState<TokenAddress | null>(null);
  const steps = useMemo(() => batches.map((batch) => batch.step), [batches]);
  const batch = batches.find((candidate) => candidate.step === step) ?? batches.at(-1) ?? null;
  const row = selected && batch ? batch.completions[selected.completion] : undefined;
  const held = selected && row && selected.token < row.tokens.length ? selected : null;
  return {
    batch,
    steps,
    group: batch ? Math.min(group, batch.prompts.length - 1) : 0,
    selected: held,
    setGroup(next) {
      setGroup(next);
      select(null);
    },
    setStep: (next) => setStep(next === steps.at(-1) ? null : next),
    select,
  };
}
