import { setTimeout as delay } from 'node:timers/promises';
import type { JobName, JobPayload } from '@akin/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Job, Queue } from '../src/index.ts';

const payload = (position: number): JobPayload<'analyze'> => ({
  collection: 1,
  request: '9007199254740993',
  position,
  attempt: 1,
  image: `http://images.example/${position}.jpg`,
});

/** A promise with functions that resolve it from outside. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The tests that every queue must pass. `open` returns a queue that no other test uses. */
export function queueContract(kind: string, open: () => Promise<Queue>): void {
  describe(`${kind}: a queue`, () => {
    let queue: Queue;

    beforeEach(async () => {
      queue = await open();
    });
    afterEach(async () => queue[Symbol.asyncDispose]());

    async function untilCounts(name: JobName, expected: Partial<Awaited<ReturnType<Queue['counts']>>>) {
      for (;;) {
        const counts = await queue.counts(name);
        if (Object.entries(expected).every(([key, value]) => counts[key as keyof typeof counts] === value)) return;
        await delay(5);
      }
    }

    /** A job counts as active a moment before its handler is called. */
    async function until(holds: () => boolean) {
      while (!holds()) await delay(5);
    }

    it('hands a job to its handler with the payload that was added', async () => {
      const jobs: Job<'analyze'>[] = [];
      queue.work('analyze', async (job) => void jobs.push(job), { concurrency: 1 });
      await queue.add('analyze', { ...payload(7), modules: ['color'] }, { id: 'a' });
      await untilCounts('analyze', { waiting: 0, active: 0 });
      expect(jobs.map(({ id, payload, attempt }) => ({ id, payload, attempt }))).toEqual([
        { id: 'a', payload: { ...payload(7), modules: ['color'] }, attempt: 1 },
      ]);
    });

    it('leaves jobs to others when it may take no more, and takes them again later', async () => {
      const ends: (() => void)[] = [];
      const working = queue.work('analyze', () => new Promise<void>((resolve) => void ends.push(resolve)), {
        concurrency: 3,
      });
      for (let i = 0; i < 3; i++) await queue.add('analyze', payload(i), { id: `job-${i}` });
      await untilCounts('analyze', { waiting: 0, active: 3 });
      await until(() => ends.length === 3);
      working.allowConcurrency(false);
      for (let i = 3; i < 7; i++) await queue.add('analyze', payload(i), { id: `job-${i}` });
      ends.shift()?.();
      ends.shift()?.();
      await untilCounts('analyze', { waiting: 4, active: 1 });
      const other = queue.work('analyze', async () => {}, { concurrency: 1 });
      await untilCounts('analyze', { waiting: 0, active: 1 });
      await other[Symbol.asyncDispose]();
      for (let i = 7; i < 10; i++) await queue.add('analyze', payload(i), { id: `job-${i}` });
      working.allowConcurrency(true);
      ends.shift()?.();
      await untilCounts('analyze', { waiting: 0, active: 3 });
      while (ends.length < 3) await delay(5);
      for (const end of ends) end();
      await untilCounts('analyze', { active: 0 });
    });

    it('keeps jobs of different names apart', async () => {
      const seen: string[] = [];
      queue.work('analyzed', async ({ id }) => void seen.push(id), { concurrency: 1 });
      await queue.add('analyze', payload(1), { id: 'image' });
      const { image: _, ...ref } = payload(1);
      await queue.add('analyzed', { ...ref, result: { outputs: '{}' } }, { id: 'image' });
      await untilCounts('analyzed', { waiting: 0, active: 0 });
      expect(seen).toEqual(['image']);
      expect(await queue.counts('analyze')).toEqual({ waiting: 1, delayed: 0, active: 0, failed: 0 });
    });

    it('refuses a payload that the catalogue does not know', async () => {
      const broken = { ...payload(1), position: 'first' } as unknown as JobPayload<'analyze'>;
      await expect(queue.add('analyze', broken, { id: 'a' })).rejects.toThrow('position');
      expect((await queue.counts('analyze')).waiting).toBe(0);
    });

    it('ignores an id that waits or runs, and takes it again once its job is done', async () => {
      const { opened, open: finish } = gate();
      let runs = 0;
      await queue.add('analyze', payload(1), { id: 'a' });
      await queue.add('analyze', payload(1), { id: 'a' });
      expect((await queue.counts('analyze')).waiting).toBe(1);
      queue.work(
        'analyze',
        async () => {
          runs++;
          await opened;
        },
        { concurrency: 1 },
      );
      await untilCounts('analyze', { active: 1 });
      await queue.add('analyze', payload(1), { id: 'a' });
      expect(await queue.counts('analyze')).toMatchObject({ waiting: 0, active: 1 });
      finish();
      await untilCounts('analyze', { active: 0 });
      await queue.add('analyze', payload(1), { id: 'a' });
      await untilCounts('analyze', { waiting: 0, active: 0 });
      expect(runs).toBe(2);
    });

    it('runs interactive jobs before bulk ones, and each kind in the order in which it came', async () => {
      for (const [id, priority] of [
        ['b1', 'bulk'],
        ['b2', 'bulk'],
        ['i1', 'interactive'],
        ['i2', undefined],
        ['b3', 'bulk'],
      ] as const) {
        await queue.add('analyze', payload(1), priority === undefined ? { id } : { id, priority });
      }
      const order: string[] = [];
      queue.work('analyze', async ({ id }) => void order.push(id), { concurrency: 1 });
      await untilCounts('analyze', { waiting: 0, active: 0 });
      expect(order).toEqual(['i1', 'i2', 'b1', 'b2', 'b3']);
    });

    it('runs as many jobs at a time as it was told, and no more', async () => {
      const { opened, open: finish } = gate();
      for (let i = 0; i < 7; i++) await queue.add('analyze', payload(i), { id: `j${i}` });
      let running = 0;
      let most = 0;
      queue.work(
        'analyze',
        async () => {
          most = Math.max(most, ++running);
          await opened;
          running--;
        },
        { concurrency: 3 },
      );
      await untilCounts('analyze', { active: 3, waiting: 4 });
      await until(() => running >= 3);
      finish();
      await untilCounts('analyze', { active: 0, waiting: 0 });
      expect(most).toBe(3);
    });

    it('tries a job again that threw, later each time', async () => {
      const times: number[] = [];
      const attempts: number[] = [];
      queue.work(
        'analyze',
        async ({ attempt }) => {
          times.push(performance.now());
          attempts.push(attempt);
          if (attempt < 3) throw new Error('not yet');
        },
        { concurrency: 1 },
      );
      await queue.add('analyze', payload(1), { id: 'a' });
      await until(() => attempts.length === 3);
      expect(attempts).toEqual([1, 2, 3]);
      const [first = 0, second = 0, third = 0] = times;
      expect(second - first).toBeGreaterThan(900);
      expect(third - second).toBeGreaterThan(1_900);
      await untilCounts('analyze', { delayed: 0, active: 0, failed: 0 });
    });

    it('gives up a poison job after its attempts, reports it once, and continues with the others', async () => {
      const failures: [string, number, string, boolean][] = [];
      const done: string[] = [];
      queue.work(
        'analyze',
        async ({ id }) => {
          if (id === 'poison') throw new Error('cannot be done');
          done.push(id);
        },
        {
          concurrency: 1,
          onFailed: ({ id, payload }, error, crashed) => failures.push([id, payload.position, error.message, crashed]),
        },
      );
      await queue.add('analyze', payload(1), { id: 'poison' });
      await queue.add('analyze', payload(2), { id: 'fine' });
      await untilCounts('analyze', { failed: 1, waiting: 0, delayed: 0, active: 0 });
      while (failures.length === 0) await delay(5);
      expect([failures, done]).toEqual([[['poison', 1, 'cannot be done', false]], ['fine']]);
      await queue.add('analyze', payload(1), { id: 'poison' });
      expect((await queue.counts('analyze')).waiting).toBe(0);
    });

    it('returns the jobs that are alive: not those that are finished, failed or were never added', async () => {
      const { opened, open: finish } = gate();
      const poison = gate();
      let tries = 0;
      queue.work(
        'analyze',
        async ({ id }) => {
          if (id === 'poison') {
            if (++tries > 1) await poison.opened;
            throw new Error('cannot be done');
          }
          if (id === 'running') await opened;
        },
        { concurrency: 1 },
      );
      for (const id of ['done', 'poison']) await queue.add('analyze', payload(1), { id });
      await until(() => tries > 0);
      expect(await queue.liveJobs('analyze', ['done', 'poison'])).toEqual(new Set(['poison']));
      poison.open();
      await untilCounts('analyze', { failed: 1, delayed: 0, active: 0 });
      for (const id of ['running', 'waiting']) await queue.add('analyze', payload(1), { id });
      await untilCounts('analyze', { active: 1, waiting: 1 });
      const ids = ['done', 'poison', 'running', 'waiting', 'never-was'];
      expect(await queue.liveJobs('analyze', ids)).toEqual(new Set(['running', 'waiting']));
      expect(await queue.liveJobs('analyzed', ids)).toEqual(new Set());
      expect(await queue.liveJobs('analyze', [])).toEqual(new Set());
      finish();
    });

    it('takes no more jobs once a worker is disposed of, but ends what runs', async () => {
      const { opened, open: finish } = gate();
      const begun: string[] = [];
      const done: string[] = [];
      const worker = queue.work(
        'analyze',
        async ({ id }) => {
          begun.push(id);
          await opened;
          done.push(id);
        },
        { concurrency: 1 },
      );
      await queue.add('analyze', payload(1), { id: 'a' });
      await until(() => begun.length === 1);
      await queue.add('analyze', payload(2), { id: 'b' });
      const closing = worker[Symbol.asyncDispose]();
      expect(await Promise.race([closing.then(() => 'closed'), delay(20, 'still at work')])).toBe('still at work');
      finish();
      await closing;
      expect(done).toEqual(['a']);
      expect((await queue.counts('analyze')).waiting).toBe(1);
    });

    it('is closed once disposed of: waits for what runs, then takes nothing', async () => {
      const { opened, open: finish } = gate();
      let [begun, done] = [false, false];
      queue.work(
        'analyze',
        async () => {
          begun = true;
          await opened;
          done = true;
        },
        { concurrency: 1 },
      );
      await queue.add('analyze', payload(1), { id: 'a' });
      await until(() => begun);
      const closing = queue[Symbol.asyncDispose]();
      finish();
      await closing;
      expect(done).toBe(true);
      await expect(queue.add('analyze', payload(2), { id: 'b' })).rejects.toThrow('closed');
      expect(() => queue.work('analyze', async () => {}, { concurrency: 1 })).toThrow('closed');
    });
  });
}
