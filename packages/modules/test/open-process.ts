import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Pixels } from '@akin/imaging';
import type { Backend } from '../src/network/backend.ts';
import type { Features } from '../src/network/network.ts';

/** A process that runs networks on one backend. */
export interface NetworkProcess extends AsyncDisposable {
  /** Runs the network of a folder. Only one call at a time. */
  run(folder: URL, pictures: readonly Pixels[]): Promise<Features[]>;
}

export function openProcess(backend: Backend): NetworkProcess {
  const file = fileURLToPath(new URL('network-process.mjs', import.meta.url));
  const child = fork(file, [backend], { serialization: 'advanced', execArgv: [] });
  return {
    async run(folder, pictures) {
      child.send({ folder: folder.href, pictures });
      const [{ features, error }] = (await once(child, 'message')) as [{ features: Features[]; error?: string }];
      if (error !== undefined) throw new Error(error);
      return features;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
