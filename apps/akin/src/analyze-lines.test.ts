import type { Analyzer } from '@akin/modules/analyze';
import { Semaphore } from '@akin/runtime';
import { describe, expect, it } from '@jest/globals';
import { analyzeLines } from './analyze-lines.ts';

describe('the analysis of many files', () => {
  it('ends when it is stopped, without a line for each of the other files', async () => {
    const stop = new AbortController();
    const analyzer = { files: new Semaphore(1e6) } as unknown as Analyzer;
    const lines: string[] = [];
    const read = async () => {
      const inputs = Array.from({ length: 100 }, (_, i) => `/missing/${i}.jpg`);
      for await (const { line } of analyzeLines(inputs, analyzer, { threads: 2, modules: [], signal: stop.signal })) {
        lines.push(line);
        if (lines.length === 3) stop.abort(new Error('Ctrl-C'));
      }
    };
    await expect(read()).rejects.toThrow('Ctrl-C');
    expect(lines).toHaveLength(3);
  });
});
