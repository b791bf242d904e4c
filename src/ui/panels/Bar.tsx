import { useState } from 'react';
import { linkTo } from '../../store/urlState';
import { Button } from '../controls/Button';
import type { PageView } from '../../store/lensStore';
import { useLensStore, useRun, useSession } from '../session';
import { BrandMark } from '../theme/Glyph';
import { MenuIcon } from '../theme/icons';
import type { Theme } from '../theme/theme';
import { CapabilityShort } from './CapabilityLine';

interface Props {
  theme: Theme;
  onTheme(): void;
  onHelp(): void;
  /** Puts the batch on show under the lens; null while there is none. */
  onFreeze: (() => void) | null;
  phone: boolean;
}

/** Name of the page, the link to this very run, theme and help. */
export function Bar({ theme, onTheme, onHelp, onFreeze, phone }: Props) {
  const [menu, setMenu] = useState(false);
  const actions = (
    <>
      <LensStatus onFreeze={onFreeze} />
      <span id="bar-slot" />
      <CopyLink />
      <Button onClick={onTheme} aria-label={`Theme: ${theme}. Switch to ${theme === 'dark' ? 'light' : 'dark'}`}>
        {theme === 'dark' ? 'Dark' : 'Light'}
      </Button>
      <Button onClick={onHelp} aria-label="Help and keys">
        ?
      </Button>
    </>
  );
  return (
    <header className="bar">
      <h1 className="brand">
        <BrandMark />
        Ratioscope
      </h1>
      {phone ? (
        <>
          <CapabilityShort />
          <Button kind="ghost" className="menu-button" aria-label="Menu" aria-expanded={menu} onClick={() => setMenu(!menu)}>
            <MenuIcon />
          </Button>
          {menu ? (
            <div className="bar-menu">
              <Tabs />
              {actions}
            </div>
          ) : null}
        </>
      ) : (
        <>
          <Tabs />
          <div className="bar-actions">{actions}</div>
        </>
      )}
    </header>
  );
}

const VIEWS: readonly { view: PageView; title: string }[] = [
  { view: 'train', title: 'Train' },
  { view: 'lens', title: 'Lens' },
];

/** The pages, as links that change the view in place: training goes on behind them. */
function Tabs() {
  const { lens } = useSession();
  const view = useLensStore((state) => state.view);
  return (
    <nav aria-label="Views">
      {VIEWS.map((entry) => (
        <a
          key={entry.view}
          className="tab"
          href={`#view=${entry.view}`}
          aria-current={entry.view === view ? 'page' : undefined}
          onClick={(event) => {
            event.preventDefault();
            lens.getState().open(entry.view);
          }}
        >
          {entry.title}
        </a>
      ))}
    </nav>
  );
}

/** On the Train page the way into the lens; in the lens, what the run does meanwhile. */
function LensStatus({ onFreeze }: { onFreeze: (() => void) | null }) {
  const isLens = useLensStore((state) => state.view === 'lens');
  const phase = useRun((state) => state.phase);
  const step = useRun((state) => state.step);
  if (isLens) return <span className="bar-note quiet">{phase === 'running' ? `Training goes on, step ${step}` : `Training stands at step ${step}`}</span>;
  return (
    <Button kind="ghost" className="freeze" disabled={!onFreeze} onClick={() => onFreeze?.()} aria-keyshortcuts="F" title={onFreeze ? undefined : 'The first iteration must be done'}>
      Freeze this batch in the lens <kbd className="key">F</kbd>
    </Button>
  );
}

function CopyLink() {
  const { config, addressPart } = useSession();
  const [state, setState] = useState<'' | 'copied' | 'blocked'>('');
  const copy = async () => {
    const link = linkTo(window, config, addressPart);
    try {
      await navigator.clipboard.writeText(link);
      setState('copied');
    } catch {
      // No clipboard without permission or HTTPS: the address bar already holds the same link.
      history.replaceState(null, '', link);
      setState('blocked');
    }
    setTimeout(() => setState(''), 2500);
  };
  return (
    <Button className="copy-link" onClick={() => void copy()}>
      <span aria-live="polite">{state === 'copied' ? 'Link copied' : state === 'blocked' ? 'Link is in the address bar' : 'Copy link'}</span>
    </Button>
  );
}
