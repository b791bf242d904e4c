import { useRef, useState } from 'react';
import { Button } from '../controls/Button';
import { useRun } from '../session';
import { BrowserAdvice } from './NoWebGpu';

/** Without WebGPU the page trains through tfjs: says so, how slow that is, and what would make it fast. */
export function SlowPathBanner() {
  const fallback = useRun((state) => state.adapter?.fallback);
  const [closed, setClosed] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  if (!fallback || closed) return null;
  return (
    <div className="banner slow-path" role="status">
      <p>
        <strong>This is the slow path.</strong> {fallback.reason} The model trains on the processor instead ({fallback.title}): many times slower than a graphics card, so keep model and batch small. The numbers mean the same.
      </p>
      <Button onClick={() => dialog.current?.showModal()}>How to get WebGPU</Button>
      <Button kind="ghost" onClick={() => setClosed(true)}>
        Close
      </Button>
      <dialog ref={dialog} className="help-dialog slow-dialog" aria-labelledby="slow-title">
        <h2 id="slow-title">How to get WebGPU</h2>
        <p className="soft">{fallback.reason}</p>
        <BrowserAdvice />
        <Button onClick={() => dialog.current?.close()}>Close</Button>
      </dialog>
    </div>
  );
}
