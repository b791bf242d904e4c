import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { Notices } from './controls/Notices';
import { ObjectiveDialogs } from './editor/ObjectiveDialogs';
import { PHONE, useMedia } from './hooks';
import { Bar } from './panels/Bar';
import { HelpDialog } from './panels/HelpDialog';
import { NoWebGpu } from './panels/NoWebGpu';
import { DeskView } from './panels/DeskView';
import { PhoneView } from './panels/PhoneView';
import { Announcer } from './panels/Announcer';
import { useBatchView } from './panels/batchView';
import { runPrimary, runStep } from './runActions';
import { useConfig, useLensStore, useRun, useSession } from './session';
import { chooseTheme, type Theme } from './theme/theme';
import { useKeyboard, type KeyActions } from './useKeyboard';

/** The lens comes in a chunk of its own, when it is first opened. */
const LensView = lazy(() => import('./lens/LensView'));

/** The whole page: bar, deck, rail, panels, capability line; or one column on a phone. */
export function App() {
  const session = useSession();
  const phone = useMedia(PHONE);
  const error = useRun((state) => state.error);
  const notices = useConfig((state) => state.notices);
  const closeNotice = useConfig((state) => state.closeNotice);
  const [help, setHelp] = useState(false);
  const [theme, setTheme] = useState<Theme>(() => (document.documentElement.dataset['theme'] === 'light' ? 'light' : 'dark'));
  const view = useBatchView();
  const { select, batch } = view;
  const page = useLensStore((state) => state.view);
  const toggleTheme = useCallback(() => {
    const next = theme === 'dark' ? 'light' : 'dark';
    chooseTheme(next);
    setTheme(next);
  }, [theme]);
  const keys = useMemo<KeyActions>(
    () => ({
      playPause: () => runPrimary(session),
      step: () => runStep(session),
      reset: () => session.control.reset(),
      objective: (id) => session.config.getState().chooseObjective(id),
      theme: toggleTheme,
      help: () => setHelp(true),
      escape: () => select(null),
      freeze: () => {
        if (batch) session.lens.getState().freeze(batch);
      },
    }),
    [session, toggleTheme, select, batch],
  );
  useKeyboard(keys);
  if (error?.kind === 'noWebGpu') return <NoWebGpu message={error.message} hint={error.hint} onRetry={() => session.control.reset()} />;
  return (
    <div className={phone ? 'app phone' : 'app desk'}>
      <Bar theme={theme} onTheme={toggleTheme} onHelp={() => setHelp(true)} onFreeze={batch ? keys.freeze : null} phone={phone} />
      {page === 'lens' ? (
        <Suspense fallback={<main id="main" className="main" aria-busy="true" />}>
          <LensView phone={phone} />
        </Suspense>
      ) : phone ? (
        <PhoneView view={view} />
      ) : (
        <DeskView view={view} />
      )}
      <Notices notices={notices} onClose={closeNotice} />
      <HelpDialog open={help} onClose={() => setHelp(false)} />
      <ObjectiveDialogs />
      <Announcer />
    </div>
  );
}
