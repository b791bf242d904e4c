import { createRoot } from 'react-dom/client';
import { createSession } from './store/session';
import { createTrainerClient } from './store/client';
import { Root } from './ui/Root';
import { applyTheme, preferredTheme } from './ui/theme/theme';

applyTheme(preferredTheme());
const session = createSession(window, createTrainerClient(location.search), new URL('models/', document.baseURI).href);
window.ratioscope = session.api;
const root = document.getElementById('root');
if (root) createRoot(root).render(<Root session={session} />);
