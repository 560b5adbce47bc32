import { describe, expect, it } from '@jest/globals';
import { type ModelSet, ModelSets } from './model-sets.ts';

const modelSet = (model: string): ModelSet => ({
  modules: [],
  models: new Map([['content', model]]),
  calibrations: new Map(),
  parseOutputs: () => ({ fields: new Map(), descriptors: new Map() }),
});

describe('models of a process', () => {
  it('are searched again if they were missing, once for all waiting calls, and never if they are known', async () => {
    let looks = 0;
    let later: ModelSet | undefined;
    const own = modelSet('own:1');
    const modelSets = new ModelSets(own, async () => {
      looks++;
      return later;
    });
    const wanted = new Map([['content', 'later:1']]);
    await Promise.all([modelSets.discover(wanted), modelSets.discover(wanted)]);
    expect([modelSets.of(wanted), looks]).toEqual([own, 1]);
    later = modelSet('later:1');
    await modelSets.discover(wanted);
    await modelSets.discover(wanted);
    expect([modelSets.of(wanted), looks]).toEqual([later, 2]);
  });
});
