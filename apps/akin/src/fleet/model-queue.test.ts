import type { Job, SharedQueue } from '@akin/queue';
import { createMemoryQueue } from '@akin/queue/memory';
import { afterEach, describe, expect, it } from '@jest/globals';
import { openModelQueue } from './model-queue.ts';

const models = (content: string) => ({
  models: new Map([
    ['color', 'color-1'],
    ['content', content],
  ]),
});
const job = (position: number, model?: string): Job<'analyze'>['payload'] => ({
  collection: 1,
  request: '1',
  position,
  attempt: 1,
  image: 'http://127.0.0.1/x.jpg',
  ...(model === undefined ? {} : { model }),
});

describe('the queue of a fleet with several content models', () => {
  const servers = new Map<string, SharedQueue>();
  const opened: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of [...opened.splice(0), ...servers.values()]) await one[Symbol.asyncDispose]();
    servers.clear();
  });

  /** One queue for each set of models, however many processes open it. */
  const open = async (contract: string): Promise<SharedQueue> => {
    const queue = servers.get(contract) ?? {
      ...createMemoryQueue(),
      announce: async () => {},
      announcedContracts: async () => [...servers.keys()],
      workers: async () => [],
    };
    servers.set(contract, queue);
    return queue;
  };
  const openFor = async (own: string, ...others: string[]) => {
    const queue = await openModelQueue(models(own), open, others.map(models));
    opened.push(queue);
    return queue;
  };

  it('gives jobs to processes with their model, and results to the process that sent the job', async () => {
    const indexer = await openFor('a');
    const analyzer = await openFor('b');
    const done: string[] = [];
    const answered: string[] = [];
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    indexer.work(
      'analyzed',
      async ({ payload: { position, model } }) => {
        answered.push(`${position} ${model}`);
        settle();
      },
      { concurrency: 1 },
    );
    await indexer.add('analyze', job(1, 'a'), { id: 'one' });
    await indexer.add('analyze', job(2, 'b'), { id: 'two' });
    analyzer.work(
      'analyze',
      async ({ payload: { image: _, ...ref } }) => {
        done.push(`${ref.position} ${ref.model}`);
        await analyzer.add('analyzed', { ...ref, result: { outputs: '{}' } }, { id: `a${ref.position}` });
      },
      { concurrency: 1 },
    );
    await settled;
    expect([done, answered]).toEqual([['2 b'], ['2 b']]);
    expect(await indexer.liveJobs('analyze', ['one'])).toEqual(new Set(['one']));
    expect(await indexer.counts('analyze')).toMatchObject({ waiting: 1 });
  });

  it('finds the living jobs of a model for which only another process has added jobs', async () => {
    const other = await openFor('a');
    await other.add('analyze', job(1, 'b'), { id: 'one' });
    const indexer = await openFor('a');
    expect(await indexer.liveJobs('analyze', ['one'], new Set([undefined, 'b']))).toEqual(new Set(['one']));
  });

  it('closes the queues that it has opened if another one does not open', async () => {
    const opening = openModelQueue(
      models('a'),
      (contract) => (contract.includes('content=b') ? Promise.reject(new Error('no response')) : open(contract)),
      [models('b')],
    );
    await expect(opening).rejects.toThrow('no response');
    const first = await open('color=color-1,content=a');
    await expect(first.add('analyze', job(1), { id: 'one' })).rejects.toThrow('closed');
  });

  it('is not blocked by jobs without a handler', async () => {
    const indexer = await openFor('a');
    for (let i = 0; i < 200; i++) await indexer.add('analyze', job(i, 'b'), { id: `job${i}` });
    expect(await indexer.counts('analyze')).toMatchObject({ waiting: 0 });
    expect([indexer.isFull?.('a'), indexer.isFull?.('b'), indexer.isFull?.(undefined)]).toEqual([false, true, false]);
  });
});
