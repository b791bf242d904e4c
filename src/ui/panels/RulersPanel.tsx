import { useMemo, useState } from 'react';
import { bandsOf } from '../../config/hyper';
import { isOnPolicy, updatesPerRollout } from '../../store/selectors';
import type { RulerScale } from '../charts/types';
import { ThreeRulers } from '../charts/ThreeRulers';
import { useConfig, useRun } from '../session';

export function RulersPanel({ compact = false }: { compact?: boolean }) {
  const [scale, setScale] = useState<RulerScale>('log');
  const recent = useRun((state) => state.recent);
  const config = useConfig((state) => state.config);
  const updates = useMemo(() => recent.flatMap((report) => report.updates), [recent]);
  const clip = useMemo(() => bandsOf(config), [config]);
  const showDial = () => {
    const dial = document.querySelector<HTMLElement>('#staleness [role=radio][tabindex="0"]');
    dial?.scrollIntoView({ block: 'center' });
    dial?.focus();
  };
  return (
    <section className={compact ? 'rulers-strip' : 'panel rulers'}>
      <ThreeRulers
        objective={config.objective}
        updates={updates}
        clip={clip}
        updatesPerRollout={updatesPerRollout(config)}
        onPolicy={isOnPolicy(config)}
        scale={scale}
        onScale={setScale}
        onShowDial={showDial}
        compact={compact}
      />
    </section>
  );
}
