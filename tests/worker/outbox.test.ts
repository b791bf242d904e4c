import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Outbox } from '../../src/worker/outbox';
import type { WorkerEvent } from '../../src/worker/protocol';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const rewound = (step: number): WorkerEvent => ({ type: 'rewound', step, updates: 4 * step });
const phase = (message: string): WorkerEvent => ({ type: 'phase', phase: 'running', message, progress: null });

describe('the outbox', () => {
  it('lets results wait, and sends them in order with whatever cannot', () => {
    const posted: WorkerEvent[][] = [];
    const outbox = new Outbox((events) => posted.push(events));
    outbox.sendSoon(rewound(1));
    outbox.sendSoon(rewound(2));
    expect(posted).toEqual([]);
    outbox.send(phase('Paused'));
    expect(posted).toEqual([[rewound(1), rewound(2), phase('Paused')]]);
    outbox.sendSoon(rewound(3));
    vi.advanceTimersByTime(50);
    expect(posted[1]).toEqual([rewound(3)]);
    vi.advanceTimersByTime(1000);
    expect(posted).toHaveLength(2);
  });

  it('holds few even while no timer runs, as in a hidden tab', () => {
    const posted: WorkerEvent[][] = [];
    const outbox = new Outbox((events) => posted.push(events));
    for (let step = 1; step <= 1000; step++) {
      outbox.sendSoon(rewound(step));
      outbox.sendActivity(phase(`Iteration ${step}`));
      expect(step - posted.flat().length).toBeLessThan(16);
    }
    expect(posted.flat()).toEqual(Array.from({ length: posted.flat().length }, (_, i) => rewound(i + 1)));
    vi.advanceTimersByTime(1000);
    // Of the words about what is going on only the last is worth sending.
    expect(posted.flat().filter(({ type }) => type === 'phase')).toEqual([phase('Iteration 1000')]);
  });
});
