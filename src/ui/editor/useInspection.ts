import { useEffect, useState } from 'react';
import type { LossInspection } from '../../worker/protocol';
import { useSession } from '../session';

export type Inspection = { state: 'waiting' } | { state: 'failed'; problem: string } | { state: 'done'; inspection: LossInspection };

/** A text is sent to the worker once the person has stopped typing, ms. */
const PAUSE_MS = 500;

/** The kernel of an objective, from the worker that trains with it; asked for anew whenever the objective changes. */
export function useInspection(objective: string, customObjective: string): Inspection {
  const { control } = useSession();
  const [answer, setAnswer] = useState<{ objective: string; inspection: Inspection } | null>(null);
  useEffect(() => {
    let wanted = true;
    const answered = (inspection: Inspection) => {
      if (wanted) setAnswer({ objective, inspection });
    };
    const timer = setTimeout(() => {
      control.inspect({ objective, customObjective }).then(
        (inspection) => answered({ state: 'done', inspection }),
        (problem: unknown) => answered({ state: 'failed', problem: problem instanceof Error ? problem.message : String(problem) }),
      );
    }, PAUSE_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [control, objective, customObjective]);
  return answer?.objective === objective ? answer.inspection : { state: 'waiting' };
}
