import { describe, expect, it } from '@jest/globals';
import { type Generation, Generations } from './generations.ts';

const generation = (model: string): Generation => ({
  modules: [],
  models: new Map([['content', model]]),
  calibrations: new Map(),
  parseOutputs: () => ({ fields: new Map(), descriptors: new Map() }),
});

describe('models of a process', () => {
  it('are searched again if they were missing, once for all waiting calls, and never if they are known', async () => {
    let looks = 0;
    let later: Generation | undefined;
    const own = generation('own:1');
    const generations = new Generations(own, async () => {
      looks++;
      return later;
    });
    const wanted = new Map([['content', 'later:1']]);
    await Promise.all([generations.discover(wanted), generations.discover(wanted)]);
    expect([generations.of(wanted), looks]).toEqual([own, 1]);
    later = generation('later:1');
    await generations.discover(wanted);
    await generations.discover(wanted);
    expect([generations.of(wanted), looks]).toEqual([later, 2]);
  });
});
