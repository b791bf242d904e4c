import { createContext, useContext } from 'react';
import { useStore } from 'zustand';
import type { LensModel, LensModelStore } from './lensModel';

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
