/**
 * Changes a collection, analyzes, commits, groups and cleans up, all at the same time and as fast as it can, until it
 * is killed. Says on its output what it is about to send and what was accepted, a JSON line each.
 *
 * Usage: node feeder.mjs <location as JSON> <first number> <seed>
 */
import { parseJson, TypeClaims, validateDocument } from '@akin/domain';
import { randomNumbers } from '@akin/testing';
import { claimForAnalysis, commit, Staging, saveAnalysis } from '../dist/changes/index.js';
import { findCollection, loadSchema } from '../dist/database/index.js';
import { maintainCollection, updateGroups } from '../dist/maintenance/index.js';
import { openStore } from '../dist/store.js';
import { createFeeding } from './feeding.mjs';
import { parseTinyOutputs, TINY_GROUPS, TINY_MODULES, tinyDescriptorTexts } from './tiny-module.mjs';

const [location, firstNumber, seed] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
/** Only for what is sent, whose order then depends on the seed alone. */
const number = randomNumbers(Number(seed) + Number(firstNumber));
const random = (below) => Math.floor(number() * below);
const api = { loadSchema, parseJson, TypeClaims, validateDocument };
const feeding = createFeeding(api, Number(firstNumber), random);

const store = await open();
const collection = await findCollection(store, 'my-collection');
await Promise.all([
  feed(),
  analyze(),
  forEver(() => commit(store, collection)),
  forEver(() => maintainCollection(store, collection)),
  forEver(() => updateGroups(store, collection, TINY_GROUPS, { milliseconds: 20 })),
]);

/** The database needs a moment to see that the process before is gone. */
async function open() {
  for (;;) {
    try {
      return await openStore({
        ...JSON.parse(location),
        modules: TINY_MODULES,
        parseOutputs: parseTinyOutputs,
        descriptorTexts: tinyDescriptorTexts,
        graceMilliseconds: 0,
      });
    } catch (error) {
      if (error.code !== 'conflict') throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function feed() {
  for (;;) {
    const sent = feeding.make();
    say({ sending: sent });
    const staging = new Staging(store, collection);
    // In pieces, so that a kill can fall between them.
    for (let i = 0; i < sent.length; i += 10) {
      await staging.add(await feeding.changesOf(store, collection, sent.slice(i, i + 10)));
      await staging.flush();
    }
    const accepted = await staging.accept();
    say({ accepted: accepted.first });
  }
}

async function analyze() {
  await forEver(async () => {
    for (const task of await claimForAnalysis(store, 20)) await saveAnalysis(store, task, '[0,1]', new Uint8Array([1]));
  });
}

async function forEver(work) {
  for (;;) {
    await work();
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  }
}
