/**
 * `npm run train-axes -- <folder> [--classes <folder>] [--backend onnx]`: computes the axes onto which the modules
 * content and duplicate project their features, from pictures and edits of them. For content it also uses pictures of
 * classes: each subfolder of another folder is a class. Writes models/content-axes.safetensors and
 * models/duplicate-axes.safetensors; each belongs to one network, and codebooks must be trained again.
 */
import { createRandom } from '@akin/domain';
import { GRADIENT_AXES, HEAD_DIMENSIONS, NETWORK_AXES, POOL_DIMENSIONS } from '@akin/modules/internal/content/axes';
import { GRADIENT_DIMENSIONS, gradientsOf } from '@akin/modules/internal/content/gradients';
import { networkFeatures } from '@akin/modules/internal/content/join';
import { PATTERN_AXES } from '@akin/modules/internal/duplicate/axes';
import { PATTERN_DIMENSIONS } from '@akin/modules/internal/duplicate/pattern';
import { listFiles } from '@akin/modules/internal/learn/list-files';
import { toRows } from '@akin/modules/internal/learn/rows';
import { COPIES_FOLDER, readModel } from '@akin/modules/internal/network/model';
import { CROP_RULE } from '@akin/modules/internal/picture/content-crop';
import { MIDDLE_RULE } from '@akin/modules/internal/picture/middle';
import type { Picture } from '@akin/modules/internal/picture/picture';
import { analyzeClasses, classFolders } from '../learn/class-folders.ts';
import { discriminantAxes, scatterOf } from '../learn/discriminant.ts';
import { scaledToOne } from '../learn/linear.ts';
import { fail, readArguments } from './arguments.ts';
import { extractFeatures, extractFeaturesOfEdits } from './extract-features.ts';
import { contentAxes, MIN_PICTURES, whitenedAxes } from './network-axes.ts';
import { writeAxes } from './write-axes.ts';

/** Number of pictures that are edited; more change the axes little. */
const EDITED = 400;
const SEED = 1;
/** Axes of the gradients are divided by their variance to this power: partial whitening. */
const GRADIENTS_WHITENING = 0.15;
/** Shrinkage of the covariance of edits. */
const PATTERN_SHRINKAGE = 0.3;

const {
  folders,
  classes: classesFolder,
  backend,
} = await readArguments('train-axes -- <folder of pictures> [--classes <folder of folders>]', {
  folders: 1,
  options: ['classes'],
});
const [folder] = folders as [string];
const files = await listFiles(folder).catch(fail);
const filesOfClasses = classesFolder === undefined ? [] : await classFolders(classesFolder).catch(fail);

let network = '';
const pictures = await extractFeatures(files, backend, async (picture) => ({
  seen: await networkFeaturesOf(picture),
  gradients: gradientsOf(picture.square()),
}));
if (pictures.size < MIN_PICTURES) {
  fail(
    `${folder} contains ${pictures.size} readable pictures. Training needs at least ${MIN_PICTURES}, better some thousands.`,
  );
}
const edits = await extractFeaturesOfEdits([...pictures.keys()], EDITED, backend);
if (edits.changes.length === 0) fail(`No picture in ${folder} can be edited.`);
const classes =
  classesFolder === undefined ? [] : await analyzeClasses(classesFolder, filesOfClasses, seenInFiles).catch(fail);
console.log(`${classes.length} classes, ${classes.flat().length} pictures of them`);

try {
  // Compute both before writing the first, so that the two files always belong together.
  const [content, duplicate] = [contentTensors(), duplicateTensors()];
  const copies = await readModel(COPIES_FOLDER);
  console.log(`content: ${await writeAxes('content', network, pictures.size, content, MIDDLE_RULE)}`);
  console.log(`duplicate: ${await writeAxes('duplicate', copies.id, pictures.size, duplicate, CROP_RULE)}`);
} catch (error) {
  fail(error);
}

async function seenInFiles(files: readonly string[]): Promise<Float64Array[]> {
  return [...(await extractFeatures(files, backend, networkFeaturesOf)).values()];
}

async function networkFeaturesOf(picture: Picture): Promise<Float64Array> {
  const { model, vector, pool } = await picture.features();
  network = model;
  return networkFeatures(vector, pool);
}

function contentTensors() {
  const random = createRandom(SEED);
  const all = [...pictures.values()];
  const main = contentAxes(
    all.map(({ seen }) => seen),
    classes,
    random,
  );
  const gradients = toRows(
    all.map(({ gradients }) => gradients),
    GRADIENT_DIMENSIONS,
  );
  const edges = whitenedAxes(gradients, GRADIENT_AXES, GRADIENTS_WHITENING, random);
  return {
    seen_mean: { shape: [HEAD_DIMENSIONS + POOL_DIMENSIONS], values: Float32Array.from(main.mean) },
    seen: { shape: [NETWORK_AXES, HEAD_DIMENSIONS + POOL_DIMENSIONS], values: scaledToOne(main.axes) },
    gradients_mean: { shape: [GRADIENT_DIMENSIONS], values: Float32Array.from(edges.mean) },
    gradients: { shape: [GRADIENT_AXES, GRADIENT_DIMENSIONS], values: scaledToOne(edges.axes) },
  };
}

function duplicateTensors() {
  const { mean, covariances } = scatterOf(toRows(edits.patterns, PATTERN_DIMENSIONS), []);
  const pattern = discriminantAxes(
    covariances,
    toRows(edits.changes, PATTERN_DIMENSIONS),
    PATTERN_AXES,
    PATTERN_SHRINKAGE,
  );
  return {
    pattern_mean: { shape: [PATTERN_DIMENSIONS], values: mean },
    pattern: { shape: [PATTERN_AXES, PATTERN_DIMENSIONS], values: scaledToOne(pattern.axes) },
  };
}
