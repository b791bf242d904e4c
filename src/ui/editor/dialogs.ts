import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

/** Which of the dialogs about an objective is open. */
export type ObjectiveDialog = 'editor' | 'kernel' | null;

const store = createStore<{ open: ObjectiveDialog }>()(() => ({ open: null }));

export const openDialog = (open: ObjectiveDialog): void => store.setState({ open });

export const useOpenDialog = (): ObjectiveDialog => useStore(store, (state) => state.open);
