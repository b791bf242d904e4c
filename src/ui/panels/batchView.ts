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
  /** Null until the reader chooses a prompt: then the most telling one of each batch is shown. */
  const [group, setGroup] = useState<number | null>(null);
  const [selected, setSelected] = useState<TokenAddress | null>(null);
  const empty = batches.length === 0;
  useEffect(() => {
    if (!empty) return;
    // A new run: its iterations have the old numbers, but nobody asked to stop at one of them.
    setStep(null);
    setHeldStep(null);
    setSelected(null);
    setGroup(null);
  }, [empty]);
  const steps = useMemo(() => batches.map((batch) => batch.step), [batches]);
  const batch = batches.find((candidate) => candidate.step === (step ?? heldStep)) ?? batches.at(-1) ?? null;
  const row = selected && batch ? batch.completions[selected.completion] : undefined;
  const held = selected && row && selected.token < row.tokens.length ? selected : null;
  const shownStep = batch?.step ?? null;
  const telling = useMemo(() => (batch ? tellingGroup(batch) : 0), [batch]);
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
    group: batch ? Math.min(group ?? telling, batch.prompts.length - 1) : 0,
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

/**
 * The group in which there is most to see: right and wrong answers (so that it has a gradient), and among those the
 * largest |log ratio|. With single answers every page is as good: the first.
 */
function tellingGroup(batch: BatchRecord): number {
  if (batch.completions.length <= batch.prompts.length) return 0;
  let best = 0;
  let bestRatio = -1;
  batch.prompts.forEach((_, group) => {
    const rows = batch.completions.filter((row) => row.group === group);
    if (rows.every((row) => row.advantage === 0)) return;
    const largest = Math.max(...rows.map((row) => row.newLogp.reduce((most, logp, t) => Math.max(most, Math.abs(logp - row.oldLogp[t])), 0)));
    if (largest > bestRatio) {
      bestRatio = largest;
      best = group;
    }
  });
  return best;
}
