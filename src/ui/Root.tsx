import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import './theme/tokens.css';
import './theme/base.css';
import './controls/controls.css';
import './panels/frame.css';
import './panels/panels.css';
import './panels/phone.css';
import './panels/views.css';
import { StrictMode } from 'react';
import type { Session } from '../store/session';
import { App } from './App';
import { SessionProvider } from './session';

/** The page around a session, styles included. */
export function Root({ session }: { session: Session }) {
  return (
    <StrictMode>
      <SessionProvider session={session}>
        <App />
      </SessionProvider>
    </StrictMode>
  );
}
