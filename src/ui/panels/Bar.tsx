import { useState } from 'react';
import { linkTo } from '../../store/urlState';
import { Button } from '../controls/Button';
import { useSession } from '../session';
import { BrandMark } from '../theme/Glyph';
import { MenuIcon } from '../theme/icons';
import type { Theme } from '../theme/theme';
import { CapabilityShort } from './CapabilityLine';

interface Props {
  theme: Theme;
  onTheme(): void;
  onHelp(): void;
  phone: boolean;
}

/** Name of the page, the link to this very run, theme and help. */
export function Bar({ theme, onTheme, onHelp, phone }: Props) {
  const [menu, setMenu] = useState(false);
  const actions = (
    <>
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
          {menu ? <div className="bar-menu">{actions}</div> : null}
        </>
      ) : (
        <>
          <nav aria-label="Views">
            <a className="tab" href="#main" aria-current="page" onClick={(event) => event.preventDefault()}>
              Train
            </a>
          </nav>
          <div className="bar-actions">{actions}</div>
        </>
      )}
    </header>
  );
}

function CopyLink() {
  const { config } = useSession();
  const [state, setState] = useState<'' | 'copied' | 'blocked'>('');
  const copy = async () => {
    const link = linkTo(window, config);
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
