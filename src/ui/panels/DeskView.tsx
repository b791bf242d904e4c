import { useState } from 'react';
import { CrossIcon } from '../theme/icons';
import { Button } from '../controls/Button';
import { knowsCritic } from '../../store/critic';
import { DRAWER, useMedia } from '../hooks';
import { useConfig } from '../session';
import { ErrorBanner, PendingBanner } from './Banner';
import type { BatchView } from './batchView';
import { CapabilityLine } from './CapabilityLine';
import { Deck } from './Deck';
import { Rail } from './Rail';
import { RewardPanel } from './RewardPanel';
import { RulersPanel } from './RulersPanel';
import { SlowPathBanner } from './SlowPathBanner';
import { FormulaOrToken, RolloutsPanel } from './TextPanels';

/** The instrument: everything on one screen from 1440 x 900. */
export function DeskView({ view }: { view: BatchView }) {
  return (
    <>
      <Deck />
      <div className="desk-body">
        <Rail />
        <main id="main" className="main">
          <ErrorBanner />
          <SlowPathBanner />
          <PendingBanner />
          <div className="row upper">
            <RewardPanel />
            <RulersPanel />
          </div>
          <LowerRow view={view} />
        </main>
      </div>
      <CapabilityLine />
    </>
  );
}

/** Rollouts and the inspector; on narrower screens the inspector slides over the rollouts. */
function LowerRow({ view }: { view: BatchView }) {
  const drawer = useMedia(DRAWER);
  const critic = useConfig((state) => knowsCritic(state.config));
  const [wanted, setWanted] = useState(false);
  const open = wanted || view.selected !== null;
  const close = () => {
    setWanted(false);
    view.select(null);
  };
  return (
    <div className={drawer ? 'row lower drawered' : 'row lower'}>
      <RolloutsPanel view={view} />
      {drawer ? (
        open ? (
          <section className="panel inspector drawer">
            <FormulaOrToken view={view} />
            <Button kind="ghost" className="panel-close" aria-label="Close the panel" title="Close" onClick={close}>
              <CrossIcon />
            </Button>
          </section>
        ) : (
          <Button className="drawer-open" onClick={() => setWanted(true)}>
            {critic ? 'Formula, critic, and why a token is clipped' : 'Formula, and why a token is clipped'}
          </Button>
        )
      ) : (
        <section className="panel inspector">
          <FormulaOrToken view={view} />
        </section>
      )}
    </div>
  );
}
