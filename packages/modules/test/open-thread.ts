import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Pixels } from '@akin/imaging';
import type { Backend } from '../src/network/backend.ts';
import type { Features } from '../src/network/network.ts';

/** The network of a thread. */
export interface NetworkThread extends AsyncDisposable {
  /** One call at a time. */
  run(pictures: readonly Pixels[]): Promise<Features[]>;
}

/** Opens the network on a backend, in a thread of its own. */
export function openThread(backend: Backend): NetworkThread {
  const worker = new Worker(new URL('network-thread.mjs', import.meta.url), { workerData: backend });
  return {
    async run(pictures) {
      worker.postMessage(pictures);
      const [{ features, error }] = (await once(worker, 'message')) as [{ features: Features[]; error?: string }];
      if (error !== undefined) throw new Error(error);
      return features;
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
