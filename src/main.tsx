import { createRoot } from 'react-dom/client';
import { createSession } from './store/session';
import { createTrainerClient } from './store/client';
import { Root } from './ui/Root';
import { applyTheme, preferredTheme } from './ui/theme/theme';

applyTheme(preferredTheme());
const session = createSession(window, createTrainerClient(location.search), new URL('models/', document.baseURI).href);
window.ratioscope = session.api;
/** Longest wait for the page's fonts, ms. */
const FONTS_MS = 600;

// Text that is first set in another font moves everything when the right one comes; a slow network holds the page up for a moment at most.
const fonts = ['14px "Inter Variable"', '13px "JetBrains Mono Variable"'].map((font) => document.fonts.load(font, 'a\u03b5'));
const late = new Promise((resolve) => setTimeout(resolve, FONTS_MS));
const root = document.getElementById('root');
void Promise.race([Promise.allSettled(fonts), late]).then(() => {
  if (root) createRoot(root).render(<Root session={session} />);
});
