import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openEngine } from '../lib/engines.mjs';
import { send } from '../lib/http.mjs';
import { akinTable } from './akin-table.mjs';
import { ROWS } from './truth.mjs';

const CLIENTS = 16;
const GRAPH_SERVER = fileURLToPath(new URL('graph-server.mjs', import.meta.url));

/**
 * Measures searches of 16 simultaneous clients. akin takes turns with a graph in memory behind the same kind of server.
 * Both read ten documents from PostgreSQL for each response.
 *
 * @param {{ collectionUrl: string, databaseUrl: string, graph: string, ef: number, rounds: number, seconds: number }}
 *   options `graph` is the file of the graph; each turn takes `seconds`
 * @returns {Promise<{ title: string, perSecond: number[] }[]>}
 */
export async function measureClients(queries, { collectionUrl, databaseUrl, graph, ef, rounds, seconds }) {
  const bare = await openEngine({ databaseUrl });
  const { table, columns } = await akinTable(bare);
  await bare.close();
  const shown = Array.from(columns, ([name, column]) => `"${column}" as "${name}"`).join(', ');
  const sql = `select id, ${shown} from ${table} where id = any($1)`;
  const child = spawn(
    process.execPath,
    [GRAPH_SERVER, graph, String(queries[0].vector.length), String(ef), databaseUrl, sql],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [port] = await once(child.stdout, 'data');
  const door = `http://127.0.0.1:${Number(port)}/`;
  const sides = [
    {
      title: 'akin',
      ask: ({ outputs }) =>
        send(`${collectionUrl}/image`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ 'rank.by.outputs': outputs, rows: String(ROWS) }).toString(),
        }),
    },
    {
      title: 'graph in memory behind express',
      ask: ({ vector }) =>
        send(door, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(Array.from(vector)),
        }),
    },
  ].map((side) => ({ ...side, perSecond: [] }));
  for (let round = -1; round < rounds; round++) {
    for (const { ask, perSecond } of sides) {
      let done = 0;
      const from = performance.now();
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          for (let i = client; performance.now() - from < seconds * 1_000; i++, done++) {
            await ask(queries[i % queries.length]);
          }
        }),
      );
      // The first round fills caches.
      if (round >= 0) perSecond.push((done * 1000) / (performance.now() - from));
    }
  }
  child.kill();
  await once(child, 'exit');
  return sides.map(({ title, perSecond }) => ({ title, perSecond }));
}
