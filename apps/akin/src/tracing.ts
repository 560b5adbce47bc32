import { type Log, startTracing } from '@akin/runtime';
import type { ShutdownStack } from './shutdown-stack.ts';
import { akinVersion } from './version.ts';

/** If the last spans could not be sent in time, the process ends after this time in any case. */
const LAST_EXIT_MILLISECONDS = 1_000;

/** Turns traces on as long as the process runs, if the environment asks for them. Must be opened before all else. */
export async function openTracing(service: string, parts: ShutdownStack, log: Pick<Log, 'warn'>): Promise<void> {
  const tracing = await startTracing({ service, version: akinVersion() }, process.env, log);
  if (tracing === undefined) return;
  parts.use('traces', {
    async [Symbol.asyncDispose]() {
      if (await tracing.end()) return;
      setTimeout(() => process.exit(), LAST_EXIT_MILLISECONDS).unref();
    },
  });
}
