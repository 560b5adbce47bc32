// `npm run store-outputs`: writes test/stored-outputs.json, the outputs for the pictures in its folder. Run it after an
// intended change of outputs: another network, other codebooks, other arithmetic.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { analyzeImage } from '../dist/analyze.js';
import { modelNames } from '../dist/vectors.js';

const folder = new URL('pictures/', import.meta.url);
const files = (await readdir(folder)).sort();
const outputs = {};
for (const file of files) outputs[file] = (await analyzeImage(await readFile(new URL(file, folder)))).outputs;
const target = new URL('stored-outputs.json', import.meta.url);
await writeFile(target, `${JSON.stringify({ models: modelNames(), outputs }, null, 2)}\n`);
console.log(`${files.length} pictures, models ${modelNames()}: ${target.pathname}`);
