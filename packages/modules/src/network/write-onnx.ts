/** `npm run write-onnx -- <file>`: the network as an ONNX file, for programs other than akin. */
import { writeFile } from 'node:fs/promises';
import { MODEL_FOLDER, readModel } from './model.ts';
import { writeOnnx } from './onnx-file.ts';

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: npm run write-onnx -- <file>');
  process.exit(1);
}
const model = await readModel(MODEL_FOLDER);
await writeFile(file, writeOnnx(model));
console.log(`${file}: ${model.id}`);
