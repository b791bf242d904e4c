import { Disclosure } from '../controls/Disclosure';
import { Answers } from './Answers';
import { ErrorBanner, PendingBanner } from './Banner';
import type { BatchView } from './batchView';
import { CapabilityLine } from './CapabilityLine';
import { ObjectivePicker, PresetPicker, SeedField, SpeedPicker } from './Deck';
import { ClipGroup, LearningGroup, StalenessGroup, TaskGroup } from './Rail';
import { MixGroup } from './MixGroup';
import { RewardPanel } from './RewardPanel';
import { RulersPanel } from './RulersPanel';
import { SlowPathBanner } from './SlowPathBanner';
import { Formula, Inspector, RolloutsPanel } from './TextPanels';
import { StepCount, Transport } from './Transport';
import { CriticPanel } from '../critic/CriticPanel';
import { criticOf } from '../../config/critic';
import { knowsCritic } from '../../store/critic';
import { stalenessSentence } from '../../store/selectors';
import { useConfig, useRun } from '../session';
import { getObjective } from '../../objectives';
import { setting } from '../theme/numbers';

/** One column; Play at the thumb. */
export function PhoneView({ view }: { view: BatchView }) {
  const config = useConfig((state) => state.config);
  const trained = useRun((state) => state.step > 0);
  return (
    <>
      <main id="main" className="phone-main">
        <ErrorBanner />
        <SlowPathBanner />
        <PendingBanner />
        <RewardPanel compact />
        <ObjectivePicker compact />
        <RulersPanel compact />
        <RolloutsPanel view={view} compact />
        {trained ? <Answers /> : null}
        <Disclosure title="Why this token was clipped" summary={view.selected ? 'a token is chosen' : 'tap a token above'}>
          <Inspector view={view} compact />
        </Disclosure>
        <Disclosure title="Formula" summary={getObjective(config.objective).title}>
          <Formula />
        </Disclosure>
        {knowsCritic(config) ? (
          <Disclosure title="Critic" summary={criticOf(config) === null ? 'switched off by the baseline' : 'what it has learnt'}>
            <CriticPanel />
          </Disclosure>
        ) : null}
        <Disclosure title="Staleness" summary={stalenessSentence(config)}>
          <StalenessGroup />
        </Disclosure>
        <Disclosure title={'Clip width \u03b5'} summary={`token ${setting(config.clipLowToken)}, subsentence ${setting(config.clipLowSegment)}, sequence ${setting(config.clipLowSequence)}`}>
          <ClipGroup />
        </Disclosure>
        <Disclosure title="Experiment" summary={`${config.preset}, seed ${config.seed}`}>
          <PresetPicker />
          <SeedField />
          <SpeedPicker />
        </Disclosure>
        <MixGroup />
        <LearningGroup />
        <TaskGroup />
        <Disclosure title="Machine" summary="adapter, pace, self-check">
          <CapabilityLine />
        </Disclosure>
      </main>
      <section className="thumb-bar" aria-label="Run">
        <Transport />
        <StepCount />
      </section>
    </>
  );
}
