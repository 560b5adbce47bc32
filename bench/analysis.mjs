// Analysis of a 400 px JPEG beside bare decoding and the bare network: `node bench/analysis.mjs [picture]`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawImage } from '@akin/testing';
import { printMachine } from './lib/machine.mjs';

const PROGRAM = new URL('bench/analysis.js', import.meta.resolve('@akin/modules/analyze'));

printMachine();
const folder = await mkdtemp(join(tmpdir(), 'akin-bench-'));
const drawn = join(folder, 'drawn.jpg');
await writeFile(drawn, await drawImage({ width: 400, height: 300 }));
// It stands in the package itself, because it times parts that are nobody else's business.
const child = spawn(process.execPath, [fileURLToPath(PROGRAM), process.argv[2] ?? drawn], { stdio: 'inherit' });
const [code] = await once(child, 'exit');
await rm(folder, { recursive: true });
process.exitCode = code;
