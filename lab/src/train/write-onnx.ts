/** `npm run write-onnx -- <file> [main|copies]`: a network as an ONNX file, for programs other than akin. */
import { writeFile } from 'node:fs/promises';
import { COPIES_FOLDER, MODEL_FOLDER, readModel } from '@akin/modules/internal/network/model';
import { writeOnnx } from '@akin/modules/internal/network/onnx-file';

const FOLDERS: Readonly<Record<string, URL>> = { main: MODEL_FOLDER, copies: COPIES_FOLDER };

const [file, name = 'main'] = process.argv.slice(2);
const folder = FOLDERS[name];
if (file === undefined || folder === undefined) {
  console.error('Usage: npm run write-onnx -- <file> [main|copies]');
  process.exit(1);
}
const model = await readModel(folder);
await writeFile(file, writeOnnx(model));
console.log(`${file}: ${model.id}`);
