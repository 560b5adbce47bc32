// Compares `akin import` into PostgreSQL with a bare COPY of the same rows into the same tables with the same indexes.
// Also measures the memory of the command over a long stream: `npm run import` in bench/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startAkin } from './lib/akin.mjs';
import { documentsFile } from './lib/documents.mjs';
import { createDatabase } from './lib/engines.mjs';
import { printTable } from './lib/figures.mjs';
import { cpuSeconds, megabytes, printMachine, watchMemory } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';

const PROGRAM = fileURLToPath(new URL('bin/akin.mjs', import.meta.resolve('akin-search/package.json')));
const options = readOptions({ documents: '50000', pictures: '', gigabytes: '10', rounds: '2' });
const count = Number(options.documents);

printMachine();
if (count > 0) await compareWithCopy();
if (Number(options.gigabytes) > 0) await longStream();

async function compareWithCopy() {
  const file = await linesFile(await documentsFile(count, options.pictures));
  const { size } = await stat(file);
  const rows = [];
  for (let round = 1; round <= Number(options.rounds); round++) {
    const database = await createDatabase('postgres');
    const akin = await startAkin(database.args);
    const db = await database.openBare();
    const postgres = await postmasterOf(db);
    const before = { akin: cpuSeconds(akin.pid), postgres: cpuSeconds(postgres, true) };
    const stopMemory = watchMemory(akin.pid);
    const run = await runImport([file, '--url', akin.url, '--collection', 'filled']);
    const served = Math.max(...stopMemory());
    const cpu = {
      import: run.cpu,
      akin: cpuSeconds(akin.pid) - before.akin,
      postgres: cpuSeconds(postgres, true) - before.postgres,
    };
    await akin.stop();
    const copy = await bareCopy(db, postgres);
    await db.close();
    await database.close();
    const perSecond = (seconds) => (count / seconds).toFixed(0);
    const share = (seconds) => `${((100 * copy.seconds) / seconds).toFixed(0)} %`;
    rows.push(
      [`COPY, round ${round}`, copy.seconds.toFixed(1), perSecond(copy.seconds), '100 %', ''],
      ['import, accepted', run.accepted.toFixed(1), perSecond(run.accepted), share(run.accepted), ''],
      ['import, visible', run.visible.toFixed(1), perSecond(run.visible), share(run.visible), ''],
      ['memory of import; of akin', '', '', '', `${megabytes(run.bytes)}; ${megabytes(served)}`],
    );
    const whole = cpu.import + cpu.akin + cpu.postgres;
    console.log(
      `CPU seconds: COPY ${copy.cpu.toFixed(1)}; import ${whole.toFixed(1)}, of which the command ${cpu.import.toFixed(1)}, akin ${cpu.akin.toFixed(1)}, PostgreSQL ${cpu.postgres.toFixed(1)}; COPY / import ${((100 * copy.cpu) / whole).toFixed(0)} %`,
    );
    console.log(copy.tables.map(([name, seconds]) => `${name} ${seconds.toFixed(1)} s`).join(', '));
  }
  printTable(`${count} documents with outputs and thumbnails, ${megabytes(size)}`, [
    ['', 'seconds', 'documents/s', 'of COPY', 'peak'],
    ...rows,
  ]);
}

/** The parent process of all connections of a server. */
async function postmasterOf(db) {
  const [{ file }] = await db.query("select pg_read_file('postmaster.pid') as file");
  return Number(file.split('\n')[0]);
}

/** Writes the documents into a file with one document per line. */
async function linesFile(array) {
  const file = array.replace(/\.json$/, '.ndjson');
  if (await stat(file).catch(() => undefined)) return file;
  const output = createWriteStream(file);
  for await (const line of createInterface({ input: createReadStream(array) })) {
    const document = line.replace(/^\[|,$|\]$/g, '');
    if (document !== '' && !output.write(`${document}\n`)) await once(output, 'drain');
  }
  output.end();
  await once(output, 'close');
  return file;
}

/** Runs the command to its end, and reads the times from its report. */
async function runImport(args, input) {
  const child = spawn(process.execPath, [PROGRAM, 'import', ...args], {
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'inherit'],
  });
  const stopMemory = watchMemory(child.pid);
  let cpu = 0;
  const watching = setInterval(() => {
    cpu = Math.max(cpu, cpuSeconds(child.pid) || 0);
  }, 100);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const [[code]] = await Promise.all([once(child, 'exit'), input?.(child.stdin)]);
  const seen = stopMemory().filter(Boolean);
  clearInterval(watching);
  if (code !== 0) throw new Error(`akin import ended with ${code}: ${said}`);
  const [, accepted, visible] = /\(([\d.]+) s, .*?(?:visible after ([\d.]+) s|\.)/s.exec(said) ?? [];
  return { accepted: Number(accepted), visible: Number(visible), bytes: Math.max(...seen), seen, cpu };
}

/**
 * Copies the rows of the collection into files, and then into empty tables with the same definitions. Only the second
 * step is timed.
 */
async function bareCopy(db, postgres) {
  const folder = await mkdtemp(join(tmpdir(), 'akin-copy-'));
  await chmod(folder, 0o777);
  const [{ schema }] = await db.query("select sql_schema as schema from akin.collections where name = 'filled'");
  const tables = await db.query(
    `select tablename as name from pg_tables where schemaname = $1
        and (tablename in ('documents', 'thumbnails') or tablename like 'descriptors%') order by 1`,
    [schema],
  );
  await db.query('create schema bare');
  for (const { name } of tables) {
    await db.query(`copy ${schema}.${name} to '${folder}/${name}' (format binary)`);
    await db.query(`create table bare.${name} (like ${schema}.${name} including all)`);
  }
  await db.query('checkpoint');
  const before = cpuSeconds(postgres, true);
  const times = [];
  for (const { name } of tables) {
    const from = performance.now();
    await db.query(`copy bare.${name} from '${folder}/${name}' (format binary)`);
    times.push([name, (performance.now() - from) / 1000]);
  }
  await rm(folder, { recursive: true, force: true });
  return {
    cpu: cpuSeconds(postgres, true) - before,
    tables: times,
    seconds: times.reduce((sum, [, seconds]) => sum + seconds, 0),
  };
}

/** Streams documents to a server that accepts everything, to measure what the command itself costs. */
async function longStream() {
  const wanted = Number(options.gigabytes) * 1e9;
  let seq = 0;
  const server = createServer(async (request, response) => {
    let bytes = 0;
    let lines = 1;
    for await (const chunk of request) {
      bytes += chunk.length;
      for (let at = chunk.indexOf('},{'); at >= 0; at = chunk.indexOf('},{', at + 1)) lines++;
    }
    const operations = { first: `c-${seq + 1}`, last: `c-${seq + lines}`, count: lines };
    if (bytes > 0) seq += lines;
    const known = { collections: [{ name: 'my-collection' }], schema: { fields: [] } };
    const body = { responseHeader: { status: 0, token: 't' }, operations, ...known };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const filler = 'x'.repeat(4_900);
  const from = performance.now();
  const write = async (stdin) => {
    for (let sent = 0, i = 0; sent < wanted; ) {
      const lines = Array.from({ length: 100 }, () => `{"id":"document ${i++}","import":"${filler}"}\n`).join('');
      sent += lines.length;
      if (!stdin.write(lines)) await once(stdin, 'drain');
    }
    stdin.end();
  };
  const { seen } = await runImport(['-', '--no-wait', '--url', `http://127.0.0.1:${server.address().port}`], write);
  const seconds = (performance.now() - from) / 1000;
  server.close();
  const quarter = Math.floor(seen.length / 4);
  const peaks = [0, 1, 2, 3].map((part) => megabytes(Math.max(...seen.slice(part * quarter, (part + 1) * quarter))));
  console.log(
    `${options.gigabytes} GB of lines in ${seconds.toFixed(0)} s (${(wanted / seconds / 1e6).toFixed(0)} MB/s); memory of import at most, by quarters: ${peaks.join(', ')}`,
  );
}
