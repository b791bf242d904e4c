import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors';
import { LensClient, LensSession, lensSettingsOf, type LensAnswer } from '../../src/lens';
import type { LensCommand, LensReply } from '../../src/lens/worker/protocol';
import { LensServer } from '../../src/lens/worker/server';
import type { WorkerLike } from '../../src/worker/client';
import { recordOf } from '../helpers/lensRecord';
import { randomBatch } from '../helpers/lossBatch';

/** A worker whose server answers when the test says so; messages are cloned as between threads. */
class SlowWorker implements WorkerLike {
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  onmessageerror: ((event: MessageEvent) => void) | null = null;
  readonly got: LensCommand[] = [];
  ended = false;
  private readonly server = new LensServer();
  private readonly replies: LensReply[] = [];

  postMessage(message: LensCommand): void {
    this.got.push(structuredClone(message));
    const reply = this.server.handle(structuredClone(message));
    if (reply) this.replies.push(structuredClone(reply));
  }

  terminate(): void {
    this.ended = true;
  }

  /** Lets the oldest reply arrive. */
  deliver(): void {
    this.onmessage?.({ data: this.replies.shift() } as MessageEvent);
  }

  asked(): number {
    return this.got.filter((command) => command.type === 'ask').length;
  }
}

function setUp() {
  const workers: SlowWorker[] = [];
  const client = new LensClient(() => {
    const worker = new SlowWorker();
    workers.push(worker);
    return worker;
  });
  return { client, workers };
}

const source = recordOf(randomBatch({ seed: 3, lengths: [9, 14], spread: 0.5, segments: 'random', advantages: [1, -1] }));
const settings = lensSettingsOf(source.record.config);
const withToken = (width: number) => ({ ...settings, widths: { ...settings.widths, token: { low: width, high: width } } });
const wanted = { table: true, objectives: ['grpo'] };
const widthOf = (answer: LensAnswer | null) => answer?.table?.[0].widths?.high;

describe('the lens off the main thread', () => {
  it('answers as the session itself does', async () => {
    const { client, workers } = setUp();
    client.setSource(source);
    const everything = { columns: true, table: true, variants: true, curves: true, scaling: true, match: { target: 0.1, quantity: 'clippedTokens' as const, shape: 'symmetric' as const } };
    const answer = client.ask(settings, everything);
    workers[0].deliver();
    const { ms: _ms, ...rest } = (await answer) as LensAnswer;
    const { ms: _own, ...want } = new LensSession(source).answer(settings, everything);
    expect(rest).toEqual(want);
  });

  it('computes one request at a time, and of those that wait the newest', async () => {
    const { client, workers } = setUp();
    client.setSource(source);
    const answers = [0.1, 0.2, 0.3, 0.4].map((width) => client.ask(withToken(width), wanted));
    expect(workers[0].asked()).toBe(1);
    workers[0].deliver();
    expect(workers[0].asked()).toBe(2);
    workers[0].deliver();
    expect((await Promise.all(answers)).map(widthOf)).toEqual([0.1, undefined, undefined, 0.4]);
    expect(workers[0].asked()).toBe(2);
  });

  it('computes what a replaced request wanted under the newest settings', async () => {
    const { client, workers } = setUp();
    client.setSource(source);
    void client.ask(settings, wanted);
    void client.ask(withToken(0.2), { curves: true, scaling: true });
    const last = client.ask(withToken(0.3), wanted);
    workers[0].deliver();
    workers[0].deliver();
    const answer = await last;
    expect([widthOf(answer), answer?.curves !== null, answer?.scaling !== null, answer?.match]).toEqual([0.3, true, true, null]);
  });

  it('drops answers about a batch that is no longer under the lens', async () => {
    const { client, workers } = setUp();
    client.setSource(source);
    const stale = client.ask(withToken(0.1), wanted);
    const waiting = client.ask(withToken(0.2), wanted);
    client.setSource(recordOf(randomBatch({ seed: 4, lengths: [5], spread: 0.5, segments: 'one', advantages: [1] })));
    const fresh = client.ask(withToken(0.3), wanted);
    workers[0].deliver();
    workers[0].deliver();
    expect([await stale, await waiting]).toEqual([null, null]);
    expect((await fresh)?.table?.[0].metrics.tokens).toBe(5);
  });

  it('passes on what was wrong and what to do, and goes on', async () => {
    const { client, workers } = setUp();
    client.setSource(source);
    const bad = client.ask({ ...settings, minibatch: 99 }, wanted);
    const good = client.ask(settings, wanted);
    const refused = expect(bad).rejects.toMatchObject({ name: 'UserError', hint: 'Choose another update, or all of them.' });
    workers[0].deliver();
    workers[0].deliver();
    await refused;
    expect(await good).not.toBeNull();
  });

  it('starts a fresh worker, with the batch, after one that crashed', async () => {
    const { client, workers } = setUp();
    client.setSource(source);
    const lost = client.ask(settings, wanted);
    workers[0].onerror?.({ message: 'out of memory' } as ErrorEvent);
    await expect(lost).rejects.toBeInstanceOf(UserError);
    expect(workers[0].ended).toBe(true);
    const again = client.ask(settings, wanted);
    expect(workers[1].got.map((command) => command.type)).toEqual(['source', 'ask']);
    // A late word of the dead one changes nothing.
    workers[0].deliver();
    workers[1].deliver();
    expect(await again).not.toBeNull();
  });

  it('ignores messages that are no reply, and needs a batch first', async () => {
    const { client, workers } = setUp();
    await expect(client.ask(settings, wanted)).rejects.toThrow('before it was given a batch');
    client.setSource(source);
    const answer = client.ask(settings, wanted);
    for (const data of [null, 3, {}, { type: 'answer' }, { type: 'answer', requestId: 1, sourceId: 1, answer: null }, { type: 'problem', requestId: 1, sourceId: 1 }]) workers[0].onmessage?.({ data } as MessageEvent);
    workers[0].deliver();
    expect(await answer).not.toBeNull();
  });

  it('lets open requests go when it is disposed of', async () => {
    const { client, workers } = setUp();
    client.setSource(source);
    const open = [client.ask(settings, wanted), client.ask(settings, wanted)];
    client.dispose();
    expect(await Promise.all(open)).toEqual([null, null]);
    expect(workers[0].ended).toBe(true);
  });

  it('a server without the batch says so instead of answering about another', () => {
    const server = new LensServer();
    expect(server.handle({ type: 'ask', requestId: 1, sourceId: 1, settings, wanted })).toMatchObject({ type: 'problem', requestId: 1 });
    server.handle({ type: 'source', sourceId: 2, source });
    expect(server.handle({ type: 'ask', requestId: 2, sourceId: 1, settings, wanted })).toMatchObject({ type: 'problem' });
    expect(server.handle({ type: 'ask', requestId: 3, sourceId: 2, settings, wanted })).toMatchObject({ type: 'answer' });
  });
});
