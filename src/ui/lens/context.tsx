import { createContext, useContext, useMemo } from 'react';
import { useStore } from 'zustand';
import { OBJECTIVES } from '../../objectives';
import { MAIN_OBJECTIVES, type LensModel, type LensModelStore } from './lensModel';

export const LensContext = createContext<LensModelStore | null>(null);

export function useLensModel(): LensModelStore {
  const model = useContext(LensContext);
  if (!model) throw new Error('invariant: no lens around this component');
  return model;
}

/** Reads from the lens; the selector must return a stored value, not a fresh object. */
export function useLens<T>(selector: (state: LensModel) => T): T {
  return useStore(useLensModel(), selector);
}

/** Ids of the objectives that the tables show: the deck's, or all of them; `also`, and one that trained on the batch without being listed (typed, or mixed by hand), in any case. */
export function useShown(also?: string): readonly string[] {
  const showAll = useLens((state) => state.showAll);
  const trained = useLens((state) => state.frozen?.source.record.objective);
  return useMemo(() => {
    const rest = OBJECTIVES.map(({ id }) => id).filter((id) => !MAIN_OBJECTIVES.includes(id));
    const other = trained !== undefined && !OBJECTIVES.some(({ id }) => id === trained) ? [trained] : [];
    return [...MAIN_OBJECTIVES, ...rest.filter((id) => showAll || id === also), ...other];
  }, [showAll, also, trained]);
}
