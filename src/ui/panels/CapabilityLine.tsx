import { lastReport } from '../../store/selectors';
import { useRun } from '../session';
import { CrossIcon, TickIcon } from '../theme/icons';
import { duration, grouped, scientific } from '../theme/numbers';
import { clampWords } from './health';

function adapterName(adapter: { vendor: string; architecture: string; device: string; description: string }): string {
  const name = [adapter.vendor, adapter.architecture].filter(Boolean).join(' ');
  return adapter.description || name || adapter.device || 'not named by the browser';
}

/** The machine and its pace: every number says what it counts. */
export function CapabilityLine() {
  const adapter = useRun((state) => state.adapter);
  const report = useRun(lastReport);
  const check = report?.selfCheck ?? null;
  const clamped = report && clampWords(report);
  return (
    <footer className="capability">
      <span className="capability-kind">
        <span className={adapter?.software ? 'dot ring' : adapter ? 'dot' : 'dot off'} aria-hidden="true" />
        {adapter?.fallback ? `No WebGPU: ${adapter.fallback.title}` : adapter ? `WebGPU, ${adapter.software ? 'software' : 'hardware'}` : 'Looking for WebGPU'}
      </span>
      {adapter && !adapter.fallback ? (
        <>
          <Pair name="adapter" value={adapterName(adapter)} clip />
          <Pair name="f16" value={adapter.f16 ? 'yes' : 'no'} />
          <Pair name="subgroups" value={adapter.subgroups ? 'yes' : 'no'} />
        </>
      ) : null}
      {report ? (
        <>
          <Pair name="step" value={duration(report.ms.total)} />
          <Pair name="sampled" value={`${grouped(report.tokensPerSecond)} tokens/s`} />
          {check ? (
            <span className="pair">
              <span className="quiet">self-check, max |log r| at first update</span> {scientific(check.maxAbsLogRatio)}{' '}
              {check.ok === null ? <span className="quiet">sampler differs</span> : check.ok ? <TickIcon /> : <CrossIcon />}
              <span className="visually-hidden">{check.ok === null ? '' : check.ok ? 'passed' : 'failed: must be below 1e−4'}</span>
            </span>
          ) : null}
          {clamped ? <Pair name="log ratios clamped" value={clamped} /> : null}
        </>
      ) : null}
      <span className="capability-keys quiet" aria-hidden="true">
        Space play or pause, {'\u2192'} step, 1 to 4 objective
      </span>
    </footer>
  );
}

function Pair({ name, value, clip = false }: { name: string; value: string; clip?: boolean }) {
  return (
    <span className={clip ? 'pair clip' : 'pair'}>
      <span className="quiet">{name}</span> {value}
    </span>
  );
}

/** The phone's version: kind of adapter and pace. */
export function CapabilityShort() {
  const adapter = useRun((state) => state.adapter);
  const report = useRun(lastReport);
  return (
    <span className="capability-short">
      <span className={adapter?.software ? 'dot ring' : adapter ? 'dot' : 'dot off'} aria-hidden="true" />
      {adapter?.fallback ? adapter.fallback.title : adapter ? (adapter.software ? 'Software' : 'GPU') : 'Starting'}
      {report ? `, ${duration(report.ms.total)}/step` : ''}
    </span>
  );
}
