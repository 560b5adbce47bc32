// Compares the analysis of a 400 px JPEG with decoding alone and the network alone:
// `node bench/analysis.mjs [picture]`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawImage } from '@akin/testing';
import { printMachine } from './lib/machine.mjs';

const PROGRAM = new URL(import.meta.resolve('@akin/lab/bench/analysis'));

printMachine();
const folder = await mkdtemp(join(tmpdir(), 'akin-bench-'));
const drawn = join(folder, 'drawn.jpg');
await writeFile(drawn, await drawImage({ width: 400, height: 300 }));
// The program is in the lab, because it times internal parts of modules.
const child = spawn(process.execPath, [fileURLToPath(PROGRAM), process.argv[2] ?? drawn], { stdio: 'inherit' });
const [code] = await once(child, 'exit');
await rm(folder, { recursive: true });
process.exitCode = code;
