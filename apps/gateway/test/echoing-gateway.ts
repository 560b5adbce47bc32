import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { AnalyzeImage } from '../src/config.ts';
import { createGateway, type Gateway, type TestLog, testConfig, testLog } from './start-gateway.ts';

export const ANALYZE = '/api/cores/my-collection/analyze';

/** Answers with its input, so that tests see what reached it. */
export const echo: AnalyzeImage = async (input, modules) => ({
  outputs: JSON.stringify({
    input: 'bytes' in input ? Buffer.from(input.bytes).toString() : Object.values(input)[0],
    modules,
  }),
});

/**
 * Call this once per file: all its tests share one echoing gateway, and each gets an empty log.
 *
 * @param take gets the gateway before the first test
 */
export function echoingGateway(take: (gateway: Gateway) => void): TestLog {
  const log = testLog();
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await createGateway(testConfig({ analyze: echo, log, corsOrigins: ['https://shop.example'] }));
    take(gateway);
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
  });
  afterEach(() => {
    log.lines.length = 0;
  });
  return log;
}
