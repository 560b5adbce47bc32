import type { AkinError } from '@akin/domain';
import { claimForAnalysis, commit, failAnalysis, type Store, saveAnalysis } from '@akin/store/changes';
import { createCollection, findCollection } from '@akin/store/database';
import { afterAll, beforeAll } from '@jest/globals';
import type { AnalyzeImage, GatewayConfig } from '../src/config.ts';
import { createGateway, type Gateway } from '../src/gateway.ts';
import { analyzeTestPicture } from './pictures.ts';
import { type TestLog, testConfig, testLog, testStore } from './start-gateway.ts';

/** A gateway over a real store. The work of the indexer is done immediately. */
export interface Service extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly store: Store;
  readonly log: TestLog;
  /** Nothing is analyzed after this until `resume`: what still looks for pictures has ended. */
  pause(): Promise<void>;
  resume(): void;
  /** Number of requested commits. */
  commits(): number;
}

export async function startService(
  parts: Partial<GatewayConfig> = {},
  settings: { searchMilliseconds?: number } = {},
): Promise<Service> {
  const { store, remove } = await testStore(settings);
  const log = testLog();
  const analyze: AnalyzeImage = parts.analyze ?? analyzeTestPicture;
  let commits = 0;
  let paused = false;
  let working: Promise<void> = Promise.resolve();
  const wake = () => {
    if (!paused) working = working.then(() => analyzeWaiting(store, analyze));
  };
  const gateway = await createGateway(
    testConfig({
      store,
      log,
      analyze,
      wake,
      makeThumbnail: async (bytes) => bytes,
      async commit(name) {
        commits++;
        return commit(store, await findCollection(store, name));
      },
      ...parts,
    }),
  );
  return {
    gateway,
    store,
    log,
    async pause() {
      paused = true;
      await working;
    },
    resume() {
      paused = false;
      wake();
    },
    commits: () => commits,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await working;
      await remove();
    },
  };
}

/** One service for all tests of a file, or of a `describe`: from before the first until after the last. */
export function useService(...options: Parameters<typeof startService>): Omit<Service, symbol> {
  let service: Service;
  beforeAll(async () => {
    service = await startService(...options);
  });
  afterAll(async () => service?.[Symbol.asyncDispose]());
  return {
    get gateway() {
      return service.gateway;
    },
    get store() {
      return service.store;
    },
    get log() {
      return service.log;
    },
    pause: () => service.pause(),
    resume: () => service.resume(),
    commits: () => service.commits(),
  };
}

/** The path of a further collection, which is empty before the first test. */
export function useCollection(service: Pick<Service, 'store'>, name: string): string {
  beforeAll(() => createCollection(service.store, name));
  return `/api/cores/${name}`;
}

async function analyzeWaiting(store: Store, analyze: AnalyzeImage): Promise<void> {
  for (;;) {
    const tasks = await claimForAnalysis(store, 20);
    if (tasks.length === 0) return;
    for (const task of tasks) {
      try {
        const { outputs } = await analyze(
          { url: task.image },
          task.modules ?? ['color', 'content', 'copyspace', 'duplicate'],
          {
            urgent: false,
          },
        );
        await saveAnalysis(store, task, outputs, Buffer.from('RIFF0000WEBP'));
      } catch (error) {
        const { code, message } = error as AkinError;
        await failAnalysis(store, task, { code, msg: message });
      }
    }
  }
}
