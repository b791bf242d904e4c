import type { ShowcaseAnswer } from '../../worker/protocol';
import { answerPairs } from '../../store/selectors';
import { useRun } from '../session';
import { diffParts } from '../textDiff';
import { CrossIcon, TickIcon } from '../theme/icons';

/** Prompts shown before the first run; after it one prompt is shown twice. */
const SHOWN = 3;

function Verdict({ correct }: { correct: boolean }) {
  return (
    <span className="verdict">
      {correct ? <TickIcon /> : <CrossIcon />}
      <span className="visually-hidden">{correct ? 'right' : 'wrong'}</span>
    </span>
  );
}

function Answer({ answer, name, before }: { answer: ShowcaseAnswer; name: string; before?: string }) {
  const parts = before === undefined ? [{ text: answer.response, added: false }] : diffParts(before, answer.response);
  return (
    <div className="answer">
      <span className="answer-name quiet">{name}</span>
      <span className="mono answer-text">
        {parts.map((part, i) => (part.added ? <ins key={i}>{part.text}</ins> : <span key={i}>{part.text}</span>))}
      </span>
      <Verdict correct={answer.correct} />
    </div>
  );
}

/** What the policy writes for the showcase prompts: the base policy's habit first, then what has become of it. */
export function Answers() {
  const base = useRun((state) => state.baseAnswers);
  const later = useRun((state) => state.answers);
  const pairs = answerPairs({ baseAnswers: base, answers: later });
  // Best seen where the habit was wrong and is right now.
  const pair = pairs.find((p) => !p.base.correct && p.latest?.correct) ?? pairs.find((p) => p.latest !== null);
  if (pairs.length === 0) return <p className="answers quiet">What the base policy writes appears here once it is loaded.</p>;
  if (!pair?.latest) {
    return (
      <div className="answers">
        <p className="soft">What the base policy writes</p>
        {pairs.slice(0, SHOWN).map(({ base: answer }) => (
          <Answer key={answer.prompt} answer={answer} name={answer.prompt} />
        ))}
      </div>
    );
  }
  return (
    <div className="answers">
      <p className="soft">
        What it wrote for <span className="mono">{pair.base.prompt}</span>
      </p>
      <Answer answer={pair.base} name={`step ${pair.base.step}`} />
      <Answer answer={pair.latest} name={`step ${pair.latest.step}`} before={pair.base.response} />
    </div>
  );
}
