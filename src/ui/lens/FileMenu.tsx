import { useRef, useState } from 'react';
import { batchToJsonl, parseBatch } from '../../lens/batchFile';
import { tableCsv } from '../../lens/exportTable';
import { Button } from '../controls/Button';
import { useSession } from '../session';
import { useLensModel } from './context';
import { Popover } from './LensDeck';
import styles from './lens.module.css';
import { download } from './savePicture';

/** Files in and out: the table, the batch, and a batch from elsewhere. */
export function FileMenu() {
  const model = useLensModel();
  const { lens, config } = useSession();
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState('');
  const { frozen } = model.getState();
  const read = async (file: File) => {
    try {
      const { source, problems } = parseBatch(await file.text());
      setProblem('');
      config.getState().notify(problems.map(({ message }) => message));
      lens.getState().importBatch(source, file.name);
    } catch (error) {
      const hint = error instanceof Error && 'hint' in error ? ` ${String(error.hint)}` : '';
      setProblem(error instanceof Error ? `${error.message}${hint}` : 'The file could not be read.');
    }
  };
  return (
    <span className={styles.files}>
      <Popover label="Export" align="right">
        <Button
          onClick={() => {
            const { answer, frozen: now } = model.getState();
            if (answer?.table && now) download(`ratioscope-lens-step-${now.source.record.step}.csv`, tableCsv(answer.table), 'text/csv');
          }}
        >
          Table as CSV
        </Button>
        <Button
          disabled={!frozen}
          onClick={() => {
            const { frozen: now } = model.getState();
            if (now) download(`ratioscope-batch-step-${now.source.record.step}.jsonl`, batchToJsonl(now.source), 'application/x-ndjson');
          }}
        >
          Batch as JSONL
        </Button>
        <p className={styles.small}>Pictures: SVG and PNG stand under each of them.</p>
      </Popover>
      <Button onClick={() => input.current?.click()}>Import</Button>
      <input
        ref={input}
        type="file"
        accept=".jsonl,.json,application/json"
        hidden
        aria-label="Batch file"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) void read(file);
          event.target.value = '';
        }}
      />
      {problem ? (
        <span role="alert" className={styles.fileProblem}>
          {problem}
        </span>
      ) : null}
    </span>
  );
}
