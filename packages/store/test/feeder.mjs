/**
 * Changes a collection, analyzes, commits and cleans up, all at the same time and as fast as it can, until it is killed.
 * Says on its output what it is about to send and what was accepted, a JSON line each.
 *
 * Usage: node feeder.mjs <place as JSON> <first number>
 */
import { parseJson, TypeClaims, validateDocument } from '@akin/domain';
import {
  claimForAnalysis,
  commit,
  findCollection,
  loadSchema,
  maintain,
  openStore,
  saveAnalysis,
  stageChanges,
} from '../dist/index.js';
import { parseTinyOutputs, TINY_MODULES } from './tiny-module.mjs';

const [place, firstNumber] = process.argv.slice(2);
let number = Number(firstNumber);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const random = (below) => Math.floor(Math.random() * below);

const store = await open();
const collection = await findCollection(store, 'my-collection');
await Promise.all([feed(), analyze(), forEver(() => commit(store, collection)), forEver(() => maintain(store))]);

/** The database needs a moment to see that the process before is gone. */
async function open() {
  for (;;) {
    try {
      return await openStore({
        ...JSON.parse(place),
        modules: TINY_MODULES,
        parseOutputs: parseTinyOutputs,
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
    // The first document tells requests apart.
    const first = { id: `request${number}`, n: number++, group: -1, analyzed: false };
    const sent = [first, ...Array.from({ length: random(30) }, makeChange)];
    say({ sending: sent });
    const staging = await stageChanges(store, collection);
    // In pieces, so that a kill can fall between them.
    for (let i = 0; i < sent.length; i += 10) await staging.add(await changesOf(sent.slice(i, i + 10)));
    const accepted = await staging.accept();
    say({ accepted: accepted.first });
  }
}

function makeChange() {
  const kind = random(20);
  const id = `id${random(60)}`;
  if (kind === 0) return { deleted: id };
  if (kind === 1) return { query: `n:${number - random(200)} OR group:${random(40)}` };
  return { id, n: number++, group: random(40), analyzed: kind < 8 };
}

async function changesOf(sent) {
  const { fields } = await loadSchema(store, collection);
  const claims = new TypeClaims();
  return sent.map((change) => {
    if ('deleted' in change) return { kind: 'delete', id: change.deleted };
    if ('query' in change) return { kind: 'delete-by-query', query: change.query };
    const { id, n, group, analyzed } = change;
    const source = analyzed ? { image: 'http://images.example/x.jpg' } : { import: '[1,0]' };
    const json = parseJson(JSON.stringify({ id, n, group, ...source }));
    const validated = validateDocument(json, 0, fields, claims);
    if ('errors' in validated) throw new Error(validated.errors[0].msg);
    return { kind: 'add', document: validated.document };
  });
}

async function analyze() {
  await forEver(async () => {
    for (const task of await claimForAnalysis(store, 20)) await saveAnalysis(store, task, '[0,1]', new Uint8Array([1]));
  });
}

async function forEver(work) {
  for (;;) {
    await work();
    await new Promise((resolve) => setTimeout(resolve, random(10)));
  }
}
