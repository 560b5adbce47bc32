import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, findRun } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** Indexes the files again that failed in a run, in the process of the run. */
export const retryRun: Handler<ParametersOf<Endpoints['retryRun']>> = async ({ parameters }, { store, retryRun }) => {
  const collection = await findCollection(store, parameters.collection);
  const run = await findRun(store, collection, parameters.run);
  if (run.state === 'running') throw new AkinError('conflict', 'This run is still active: wait for its end.');
  if (run.failed === 0) throw new AkinError('conflict', 'Nothing failed in this run.');
  if (!retryRun(run.id)) {
    throw new AkinError(
      'conflict',
      `The command of this run has ended. Run it again to retry the failed files: akin index ${run.source}`,
    );
  }
  return { status: 202, body: {} };
};
