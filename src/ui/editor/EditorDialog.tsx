import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { adoptPatch } from '../../config/adopt';
import { configToHash } from '../../config/codec';
import { validateConfig } from '../../config/validate';
import { LEVEL_TITLE } from '../../core/levels';
import { ObjectiveTextError, readCustom, type CustomObjective } from '../../objectives/custom';
import { Button } from '../controls/Button';
import { Select } from '../controls/Select';
import { useConfig, useSession } from '../session';
import { Glyph } from '../theme/Glyph';
import { CodeEditor } from './CodeEditor';
import styles from './editor.module.css';
import { Modal } from './Modal';
import { ParameterSliders } from './ParameterSliders';
import { FIRST_TEXT, keepText, recallText, saveFile, STARTING_POINTS, startingText } from './storage';
import { TypedFormula } from './TypedFormula';
import { Verdicts } from './Verdicts';

type Reading = { custom: CustomObjective; error: null } | { custom: null; error: ObjectiveTextError };

function read(text: string): Reading {
  try {
    return { custom: readCustom(text), error: null };
  } catch (error) {
    if (error instanceof ObjectiveTextError) return { custom: null, error };
    throw error;
  }
}

/** Write an objective: text on the left; what it means, how it checks out and its parameters on the right. */
export default function EditorDialog({ onClose }: { onClose(): void }) {
  const session = useSession();
  const config = useConfig((state) => state.config);
  const [text, setText] = useState(() => config.customObjective || recallText());
  const [said, setSaid] = useState('');
  const file = useRef<HTMLInputElement>(null);
  const settled = useDeferredValue(text);
  const { custom, error } = useMemo(() => read(settled), [settled]);
  const inUse = config.customObjective === text;
  const change = (next: string) => {
    setText(next);
    setSaid('');
    keepText(next);
  };

  const use = () => {
    if (!custom || settled !== text) return;
    session.config.getState().patch(adoptPatch(config, text));
    onClose();
  };
  const copyLink = async () => {
    if (!custom) return;
    const { config: linked } = validateConfig(adoptPatch(config, text), config);
    try {
      await navigator.clipboard.writeText(`${location.href.split('#')[0]}#${configToHash(linked)}`);
      setSaid('Link copied.');
    } catch {
      setSaid('The browser did not allow copying. Press Use, then copy the address.');
    }
  };
  const importFile = async (chosen: File | undefined) => {
    if (!chosen) return;
    if (chosen.size > 100_000) setSaid('That file is too large to be an objective.');
    else change((await chosen.text()).replace(/\r\n?/g, '\n'));
  };

  const level = custom?.objective.importanceSamplingLevel;
  return (
    <Modal title="Write your own objective" note={custom && level ? `${custom.objective.title}: a ratio per ${LEVEL_TITLE[level].toLowerCase()}` : 'the loss of one token, minimised'} onClose={onClose}>
      <div className={styles.tools}>
        <Select name="Starting point" value="" options={[{ value: '', label: 'Start from\u2026' }, { value: 'example', label: 'the example' }, ...STARTING_POINTS]} onChange={(id) => id !== '' && change(id === 'example' ? FIRST_TEXT : startingText(id))} />
        <Button onClick={() => file.current?.click()}>Import</Button>
        <input ref={file} type="file" accept=".txt,text/plain" hidden aria-label="Objective file" onChange={(event) => void importFile(event.target.files?.[0])} />
        <Button onClick={() => saveFile('objective.txt', text)}>Export</Button>
        <Button disabled={!custom} onClick={() => void copyLink()}>
          Copy link
        </Button>
        <span className={`soft ${styles.spring}`} role="status">
          {said}
        </span>
        {level ? <Glyph kind={level} /> : null}
        <Button kind="solid" disabled={!custom || settled !== text || inUse} onClick={use}>
          {inUse ? 'In use' : 'Use'}
        </Button>
      </div>
      <div className={styles.columns}>
        <CodeEditor className={styles.code} label="Text of the objective" value={text} onChange={change} />
        <div className={styles.side} aria-live="polite">
          {error ? (
            <section className={styles.problem} role="alert">
              <p>{error.message}</p>
              {error.hint ? <p>{error.hint}</p> : null}
            </section>
          ) : (
            <>
              <TypedFormula objective={custom.objective} />
              <Verdicts custom={custom} />
              {custom.objective.hyperparameters.length > 0 ? (
                <section className={styles.parameters} aria-label="Parameters">
                  <h3>Parameters, as declared</h3>
                  <ParameterSliders
                    specs={custom.objective.hyperparameters}
                    values={Object.fromEntries(custom.objective.hyperparameters.map((h) => [h.name, h.default]))}
                    onChange={(name, value) => settled === text && change(withDefault(custom, name, value))}
                  />
                </section>
              ) : null}
            </>
          )}
        </div>
      </div>
    </Modal>
  );
}

/** The text with another value behind "param name =". */
function withDefault({ text, parsed }: CustomObjective, name: string, value: number): string {
  const span = parsed.parameterSpans.get(name);
  if (!span) return text;
  return text.slice(0, span.end) + text.slice(span.end).replace(/^(\s*=\s*)-?\s*[\d.]+(?:[eE][+-]?\d+)?(?=[^\d]|$)/, (_, before: string) => `${before}${value}`);
}
