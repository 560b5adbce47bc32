// Serves a graph in memory with express, and reads ten documents from PostgreSQL for each response. A team would write
// such a server by itself. clients.mjs starts it: `node graph-server.mjs <graph> <dimensions> <ef> <database> <sql>`.
import express from 'express';
import pg from 'pg';
import { idOf } from '../lib/documents.mjs';
import { loadIndex } from './graph.mjs';
import { ROWS } from './truth.mjs';

const [file, dimensions, expansion, connectionString, sql] = process.argv.slice(2);
const index = loadIndex(file, Number(dimensions), Number(expansion));
const pool = new pg.Pool({ connectionString, max: 10 });
const server = express()
  .post('/', express.json(), async (request, response) => {
    const { keys, distances } = index.search(Float32Array.from(request.body), ROWS, 1);
    const ids = Array.from(keys, (key) => idOf(Number(key)));
    const { rows } = await pool.query({ name: 'documents', text: sql, values: [ids] });
    const found = new Map(rows.map((row) => [row.id, row]));
    response.json(ids.map((id, i) => ({ ...found.get(id), distance: distances[i] })));
  })
  .listen(0, '127.0.0.1', () => console.log(server.address().port));
process.once('SIGTERM', () => process.exit());
