import type { WorkerEvent } from './protocol';

/** Least time between two messages that carry only results, ms. */
const RESULTS_MS = 50;
/** Results that may wait: timers sleep in a hidden tab, and nothing must pile up behind them. */
const RESULTS_MOST = 16;
/** Least time between two words about what a running iteration is doing, ms. */
const ACTIVITY_MS = 250;

/**
 * Events on their way to the page, in order. Results wait a little, so that a fast run sends few messages; everything
 * else goes at once and takes waiting results along. Of the words about a running iteration only the latest is sent.
 * Arrays are cloned, not transferred: they are small views on shared buffers, and the worker keeps them for snapshots.
 */
export class Outbox {
  private readonly post: (events: WorkerEvent[]) => void;
  private waiting: WorkerEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;
  private activity: WorkerEvent | null = null;
  private activityTimer: ReturnType<typeof setTimeout> | null = null;

  constructor(post: (events: WorkerEvent[]) => void) {
    this.post = post;
  }

  /** Sends now, behind what waits. */
  send(event: WorkerEvent): void {
    if (event.type === 'phase') this.dropActivity();
    this.waiting.push(event);
    this.flush();
  }

  /** Sends within RESULTS_MS, sooner when many wait. */
  sendSoon(event: WorkerEvent): void {
    this.waiting.push(event);
    if (this.waiting.length >= RESULTS_MOST) return this.flush();
    this.timer ??= setTimeout(() => this.flush(), RESULTS_MS);
  }

  /** Sends within ACTIVITY_MS unless something newer replaces it. */
  sendActivity(event: WorkerEvent): void {
    this.activity = event;
    this.activityTimer ??= setTimeout(() => {
      this.activityTimer = null;
      const latest = this.activity;
      this.activity = null;
      if (latest) {
        this.waiting.push(latest);
        this.flush();
      }
    }, ACTIVITY_MS);
  }

  /** Forgets results and activity that were not sent yet: a reset makes them void. */
  clear(): void {
    this.waiting = [];
    this.dropActivity();
  }

  private dropActivity(): void {
    if (this.activityTimer !== null) clearTimeout(this.activityTimer);
    this.activityTimer = null;
    this.activity = null;
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const events = this.waiting;
    this.waiting = [];
    if (events.length > 0) this.post(events);
  }
}
