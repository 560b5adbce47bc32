import { type Endpoints, type ParametersOf, RUN_FAILURE } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, type RunFailure, reportRun as report } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** Stores what a program that indexes a folder reports about its run. */
export const reportRun: Handler<ParametersOf<Endpoints['reportRun']>> = async ({ parameters }, { store }) => {
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
    throw new AkinError(
      'bad-request',
      'Parameter failures: each must be a JSON object of path (at most 4096 characters), code (100) and msg (1000).',
      { cause },
    );
  }
}
