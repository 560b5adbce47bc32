// Measures the time from the start of the process to the first answered search: `node bench/start.mjs`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import { startAkin } from './lib/akin.mjs';
import { documentsFile, idOf } from './lib/documents.mjs';
import { createDatabase, pgliteFolder } from './lib/engines.mjs';
import { printTable, ratios, spread } from './lib/figures.mjs';
import { publish, sendDocuments, sendJson, timed } from './lib/http.mjs';
import { printMachine } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';

const options = readOptions({ documents: '10000', rounds: '7', pictures: '' });
const BARE = `import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
const db = await PGlite.create({ dataDir: process.argv[1], extensions: { vector } });
await db.query("select '[1]'::vector");
process.exit();`;

printMachine();
const count = Number(options.documents);
const file = await documentsFile(count, options.pictures);
const database = await createDatabase('pglite');
const filling = await startAkin(database.args);
await sendDocuments(filling.collectionUrl, file);
await publish(filling.collectionUrl);
await filling.stop();
const copy = `${database.folder}-bare`;
await cp(pgliteFolder(database.folder), copy, { recursive: true });

const times = { response: [], killed: [], prepared: [], bare: [] };
for (let round = 0; round < Number(options.rounds); round++) {
  times.bare.push(await timed(openBare));
  times.response.push(await timeToFirstResponse('SIGTERM'));
  // The start after this one finds what a killed process left.
  await timeToFirstResponse('SIGKILL');
  times.killed.push(await timeToFirstResponse('SIGTERM'));
  times.prepared.push(await timed(prepare));
}
printTable(`${count} documents on PGlite, milliseconds: median (min to max)`, [
  ['what', 'time', 'compared with PGlite alone'],
  [
    'akin serve, to the first answered search',
    spread(times.response, 0),
    spread(ratios(times.response, times.bare), 2),
  ],
  ['the same after a kill', spread(times.killed, 0), spread(ratios(times.killed, times.bare), 2)],
  ['PGlite alone, to the first row', spread(times.bare, 0), '1'],
  ['before it in npm start: nothing to install or build', spread(times.prepared, 0), ''],
]);
await rm(copy, { recursive: true, force: true });
await database.close();

/** @param {'SIGTERM' | 'SIGKILL'} signal how the process ends afterwards, which is not timed */
async function timeToFirstResponse(signal) {
  let akin;
  const milliseconds = await timed(async () => {
    akin = await startAkin(database.args);
    const { response } = await sendJson(`${akin.collectionUrl}/image?rank.by.id=${idOf(0)}`);
    if (response.numFound !== count) throw new Error(`found ${response.numFound} of ${count} documents`);
  });
  await akin.stop(signal);
  return milliseconds;
}

async function openBare() {
  await run(['--input-type=module', '--eval', BARE, copy]);
}

async function prepare() {
  await run(['infra/scripts/prepare.mjs'], new URL('..', import.meta.url));
}

async function run(args, cwd = new URL('.', import.meta.url)) {
  const child = spawn(process.execPath, args, { cwd, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`);
}
