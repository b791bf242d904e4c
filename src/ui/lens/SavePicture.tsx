import { useState } from 'react';
import { Button } from '../controls/Button';
import { useLens } from './context';
import styles from './lens.module.css';
import { download, standaloneSvg, svgToPng } from './savePicture';

/** Saves the picture of this name that is on the page. */
export function SavePicture({ name }: { name: string }) {
  const step = useLens((state) => state.frozen?.source.record.step ?? 0);
  const [problem, setProblem] = useState('');
  const save = async (kind: 'svg' | 'png') => {
    const svg = document.querySelector<SVGSVGElement>(`svg[data-picture="${name}"]`);
    if (!svg) return;
    try {
      const title = `${svg.querySelector('title')?.textContent ?? name.replace(/-/g, ' ')}, step ${step}`;
      const picture = await standaloneSvg(svg, title);
      const file = `ratioscope-${name}-step-${step}`;
      if (kind === 'svg') download(`${file}.svg`, picture.text, 'image/svg+xml');
      else download(`${file}.png`, await svgToPng(picture));
      setProblem('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The picture could not be saved.');
    }
  };
  const words = name.replace(/-/g, ' ');
  return (
    <span className={styles.save}>
      <Button kind="ghost" aria-label={`Save ${words} as SVG`} onClick={() => void save('svg')}>
        SVG
      </Button>
      <Button kind="ghost" aria-label={`Save ${words} as PNG`} onClick={() => void save('png')}>
        PNG
      </Button>
      {problem ? <span role="status">{problem}</span> : null}
    </span>
  );
}
