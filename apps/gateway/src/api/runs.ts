import { RUN_FAILURE } from '@akin/contract';
import { AkinError, badRequest } from '@akin/domain';
import {
  findCollection,
  findRun,
  dismissRun as forget,
  listRuns,
  type RunFailure,
  reportRun as report,
} from '@akin/store/database';
import type { HandlerFor } from '../http/serve.ts';

export const runs: HandlerFor<'runs'> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  return { body: { runs: await listRuns(store, collection) } };
};

export const reportRun: HandlerFor<'reportRun'> = async ({ parameters }, { store }) => {
  const { collection: name, run: id, source, state, total, done, unchanged, failed } = parameters;
  const failures = parameters.failures.map(readFailure);
  const collection = await findCollection(store, name);
  const reported = { source, state, total, done, unchanged, failed, secondsLeft: parameters.secondsLeft ?? null };
  return { body: { run: await report(store, collection, id, reported, failures) } };
};

function readFailure(text: string): RunFailure {
  try {
    return RUN_FAILURE.strict().parse(JSON.parse(text));
  } catch (cause) {
    throw badRequest(
      'Parameter failures: each must be a JSON object of path (at most 4096 characters), code (100) and msg (1000).',
      { cause },
    );
  }
}

export const retryRun: HandlerFor<'retryRun'> = async ({ parameters }, { store, retryRun }) => {
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

export const dismissRun: HandlerFor<'dismissRun'> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  await forget(store, collection, parameters.run);
  return { body: {} };
};
