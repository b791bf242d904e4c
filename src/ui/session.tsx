import type { ReactNode } from 'react';
import { createContext, useContext } from 'react';
import { useStore } from 'zustand';
import type { ConfigState } from '../store/configStore';
import type { LensState } from '../store/lensStore';
import type { RunState } from '../store/runStore';
import type { Session } from '../store/session';

const Context = createContext<Session | null>(null);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <Context.Provider value={session}>{children}</Context.Provider>;
}

export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error('invariant: no session around this component');
  return session;
}

/** Reads from the run store; the selector must return a stored value, not a fresh object. */
export function useRun<T>(selector: (state: RunState) => T): T {
  return useStore(useSession().run, selector);
}

/** Reads from the config store. */
export function useConfig<T>(selector: (state: ConfigState) => T): T {
  return useStore(useSession().config, selector);
}

/** Reads from the store of the open page and the lens's batch. */
export function useLensStore<T>(selector: (state: LensState) => T): T {
  return useStore(useSession().lens, selector);
}
