import { lazy, Suspense } from 'react';
import { openDialog, useOpenDialog } from './dialogs';

/** The editor and the view of the kernel come in chunks of their own, when they are first opened. */
const EditorDialog = lazy(() => import('./EditorDialog'));
const KernelDialog = lazy(() => import('./KernelDialog'));

const close = () => openDialog(null);

export function ObjectiveDialogs() {
  const open = useOpenDialog();
  if (open === null) return null;
  return <Suspense fallback={null}>{open === 'editor' ? <EditorDialog onClose={close} /> : <KernelDialog onClose={close} />}</Suspense>;
}
