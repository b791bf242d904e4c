import { createRoot } from 'react-dom/client';
import { createSession } from '../../src/store/session';
import { Root } from '../../src/ui/Root';
import { applyTheme } from '../../src/ui/theme/theme';
import { FakeClient, type FakeOptions } from '../helpers/fakeClient';

// ?theme=light&steps=34&state=compiling|lost|none: the page in a given state, without a GPU.
const query = new URLSearchParams(location.search);
applyTheme(query.get('theme') === 'light' ? 'light' : 'dark');
const states: Record<string, FakeOptions> = {
  compiling: { stuckIn: { phase: 'compiling', message: 'Compiling kernels, 12 of 30', progress: 0.4 } },
  none: { failWith: { type: 'error', kind: 'noWebGpu', message: 'This browser has no navigator.gpu.', hint: 'Use one of the browsers below.', fatal: true } },
};
const client = new FakeClient({ pace: 500, software: query.get('software') === '1', ...states[query.get('state') ?? ''] });
const session = createSession(window, client, 'models/');
window.ratioscope = session.api;
const root = document.getElementById('root');
if (root) createRoot(root).render(<Root session={session} />);
const steps = Number(query.get('steps') ?? 0);
void session.api.ready
  .then(() => (steps > 0 ? session.api.step(steps) : undefined))
  .then(() => {
    if (query.get('state') === 'lost') client.emit({ type: 'error', kind: 'deviceLost', message: 'The GPU was lost.', hint: 'Reset starts again with the same settings.', fatal: true });
    if (query.get('state') === 'running') session.api.play();
  });
