import { useCallback, useEffect, useMemo, useState } from 'react';
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
  /** A chosen token holds its batch still, until it is let go. */
  const [heldStep, setHeldStep] = useState<number | null>(null);
  const [group, setGroup] = useState(0);
  const [selected, setSelected] = useState<TokenAddress | null>(null);
  const empty = batches.length === 0;
  useEffect(() => {
    if (!empty) return;
    // A new run: its iterations have the old numbers, but nobody asked to stop at one of them.
    setStep(null);
    setHeldStep(null);
    setSelected(null);
  }, [empty]);
  const steps = useMemo(() => batches.map((batch) => batch.step), [batches]);
  const batch = batches.find((candidate) => candidate.step === (step ?? heldStep)) ?? batches.at(-1) ?? null;
  const row = selected && batch ? batch.completions[selected.completion] : undefined;
  const held = selected && row && selected.token < row.tokens.length ? selected : null;
  const shownStep = batch?.step ?? null;
  const select = useCallback(
    (address: TokenAddress | null) => {
      setSelected(address);
      setHeldStep(address ? shownStep : null);
    },
    [shownStep],
  );
  return {
    batch,
    steps,
    group: batch ? Math.min(group, batch.prompts.length - 1) : 0,
    selected: held,
    setGroup(next) {
      setGroup(next);
      select(null);
    },
    setStep(next) {
      setStep(next === steps.at(-1) ? null : next);
      setHeldStep(null);
    },
    select,
  };
}
