import { useEffect, useMemo, useRef } from 'react';
import { createPortal } from 'react-dom';
import { Button } from '../controls/Button';
import { Disclosure } from '../controls/Disclosure';
import { useLensStore, useRun, useSession } from '../session';
import { lastReport } from '../../store/selectors';
import { duration, grouped } from '../theme/numbers';
import { AnswersPanel } from './AnswersPanel';
import { CurvesPanel } from './CurvesPanel';
import { FileMenu } from './FileMenu';
import { HistogramPanel } from './HistogramPanel';
import { IciclePanel } from './IciclePanel';
import { LensContext, useLens, useLensModel, useShown } from './context';
import { LensDeck } from './LensDeck';
import { lensModelOf, type LowerTab, type SideTab } from './lensModel';
import styles from './lens.module.css';
import { ScalingPanel } from './ScalingPanel';
import { TablePanel } from './TablePanel';
import { Tabs } from './Tabs';
import { TokenPanel } from './TokenPanel';
import { matchWords } from './words';
import { useLensKeys } from './useLensKeys';
import { WhatIfPanel } from './WhatIfPanel';

/** A batch that lies still under the lens: what every objective would do with the same tokens. Training goes on behind it. */
export default function LensView({ phone }: { phone: boolean }) {
  const { lens, run } = useSession();
  const model = useMemo(() => lensModelOf(lens), [lens]);
  const frozen = useLensStore((state) => state.frozen);
  const wanted = useLensStore((state) => state.address.get('lensStep'));
  const batches = useRun((state) => state.batches);
  useEffect(() => {
    // Opened without a batch: the one that the address names once it is there, else the newest.
    if (frozen) return;
    const batch = wanted === undefined ? batches.at(-1) : batches.find(({ step }) => String(step) === wanted);
    if (batch) lens.getState().freeze(batch);
  }, [frozen, batches, wanted, lens, run]);
  return (
    <LensContext.Provider value={model}>
      {frozen ? <Lens phone={phone} /> : <Empty wanted={wanted} />}
    </LensContext.Provider>
  );
}

function Empty({ wanted }: { wanted: string | undefined }) {
  const { lens, control } = useSession();
  const phase = useRun((state) => state.phase);
  const canRun = phase === 'ready' || phase === 'paused' || phase === 'finished';
  return (
    <main id="main" className={`${styles.blank} main`}>
      <h2>No batch under the lens yet</h2>
      <p className="soft">
        {wanted ? `This link looks at step ${wanted}: it opens here as soon as that iteration is done.` : 'The lens holds one rollout batch still and shows what every objective would do with the same tokens. Run an iteration, or open a batch that was saved.'}
      </p>
      <div className={styles.tools}>
        <Button disabled={!canRun} onClick={() => (wanted ? control.play() : control.step(1))}>
          {wanted ? 'Run to it' : 'Run one iteration'}
        </Button>
        <FileMenu />
        <Button kind="ghost" onClick={() => lens.getState().open('train')}>
          Back to Train
        </Button>
      </div>
    </main>
  );
}

function Lens({ phone }: { phone: boolean }) {
  useLensKeys();
  const slot = useBarSlot();
  return (
    <>
      {slot ? createPortal(<FileMenu />, slot) : null}
      <LensDeck />
      {phone ? <PhoneLens /> : <DeskLens />}
      {phone ? null : <LensLine />}
    </>
  );
}

/** The bar keeps a place for what a view adds to it; on the phone the menu stands in the page. */
function useBarSlot(): Element | null {
  return typeof document === 'undefined' ? null : document.getElementById('bar-slot');
}

function DeskLens() {
  const model = useLensModel();
  const lower = useLens((state) => state.lower);
  const side = useLens((state) => state.side);
  const matched = useLens((state) => state.matched);
  const shown = useShown();
  return (
    <main id="main" className={`${styles.desk} main`}>
      <Problem />
      <div className={`${styles.row} ${styles.upper}`}>
        <IciclePanel compact={false} />
        <CurvesPanel compact={false} />
      </div>
      <div className={`${styles.row} ${styles.lower}`}>
        <section className={styles.panel} aria-label="Objectives, token and answers">
          <Tabs<LowerTab>
            label="What stands under the rulers"
            value={lower}
            onChange={(value) => model.set({ lower: value })}
            note={lower === 'table' ? (matched ? matchWords(matched, shown) : 'nothing is retrained, each row counts the frozen batch') : ''}
            tabs={[
              { value: 'table', title: 'Every objective on the same tokens', short: 'Every objective', panel: <TablePanel /> },
              { value: 'token', title: 'The number behind a token', short: 'This token', panel: <TokenPanel /> },
              { value: 'answers', title: 'Answers side by side', short: 'Answers', panel: <AnswersPanel /> },
            ]}
          />
        </section>
        <section className={styles.panel} aria-label="Length, histograms and outliers">
          <Tabs<SideTab>
            label="What stands beside the table"
            value={side}
            onChange={(value) => model.set({ side: value })}
            note=""
            tabs={[
              { value: 'length', title: 'Longer mean, narrower ruler', short: 'Length', panel: <ScalingPanel /> },
              { value: 'histograms', title: 'Log ratios on one axis', short: 'Histograms', panel: <HistogramPanel /> },
              { value: 'whatIf', title: 'Outlier and dilution', short: 'What if', panel: <WhatIfPanel /> },
            ]}
          />
        </section>
      </div>
    </main>
  );
}

function PhoneLens() {
  return (
    <main id="main" className={`${styles.phone} phone-main`}>
      <Problem />
      <IciclePanel compact />
      <Disclosure title="The number behind this token" summary="formula, branch, every verdict">
        <TokenPanel />
      </Disclosure>
      <CurvesPanel compact />
      <section className={styles.panel} aria-labelledby="lens-phone-table">
        <h2 id="lens-phone-table">Every objective on the same tokens</h2>
        <TablePanel />
      </section>
      <Disclosure title="Outlier and dilution" summary="move a token, see who lets go">
        <WhatIfPanel />
      </Disclosure>
      <Disclosure title="Longer mean, narrower ruler" summary="spread against length">
        <div className={styles.phonePlot}>
          <ScalingPanel />
        </div>
      </Disclosure>
      <Disclosure title="Log ratios on one axis" summary="histograms of the three levels">
        <div className={styles.phonePlot}>
          <HistogramPanel />
        </div>
      </Disclosure>
      <Disclosure title="Answers side by side" summary="filter, sort, search">
        <div className={styles.phoneList}>
          <AnswersPanel />
        </div>
      </Disclosure>
      <FileMenu />
    </main>
  );
}

function Problem() {
  const problem = useLens((state) => state.problem);
  return problem ? (
    <div className="banner strong" role="alert">
      <p>{problem}</p>
    </div>
  ) : null;
}

/** How long the recount took, and what the run does meanwhile. */
function LensLine() {
  const ms = useLens((state) => state.answer?.ms ?? null);
  const record = useLens((state) => state.frozen?.source.record ?? null);
  const report = useRun(lastReport);
  const adapter = useRun((state) => state.adapter);
  const longest = useRef(0);
  longest.current = record ? record.completions.reduce((most, row) => Math.max(most, row.tokens.length), 0) : 0;
  return (
    <footer className="capability">
      <span className="capability-kind">
        <span className="dot" aria-hidden="true" />
        {ms === null ? 'Counting' : `Recounted in ${duration(ms)}`}
      </span>
      {record ? (
        <span className="pair">
          <span className="quiet">batch</span> {record.completions.length} {'\u00d7'} {longest.current}
        </span>
      ) : null}
      {adapter ? (
        <span className="pair">
          <span className="quiet">adapter</span> {[adapter.vendor, adapter.architecture].filter(Boolean).join(' ') || adapter.description}
        </span>
      ) : null}
      {report ? (
        <span className="pair">
          <span className="quiet">training</span> {duration(report.ms.total)}/step, {grouped(report.tokensPerSecond)} tokens/s
        </span>
      ) : null}
      <span className="capability-keys quiet" aria-hidden="true">
        {'\u2190 \u2192'} token, {'\u2191 \u2193'} level, J worst token, M match
      </span>
    </footer>
  );
}
