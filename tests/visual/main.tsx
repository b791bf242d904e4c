import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import { createRoot } from 'react-dom/client';
import '../../src/ui/theme/tokens.css';
import '../../src/ui/theme/base.css';
import './gallery.css';
import { Gallery } from './Gallery';

const query = new URLSearchParams(location.search);
document.documentElement.dataset['theme'] = query.get('theme') ?? 'dark';
const root = document.getElementById('root');
if (root) createRoot(root).render(<Gallery view={query.get('view') ?? 'main'} objective={query.get('objective') ?? 'grpo'} />);
