import { AkinError } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { colorQuery, encodeDescriptor } from '@akin/modules/vectors';
import type { AnalyzeImage } from '../src/config.ts';

/*
 * Pictures of tests are texts. `red`, `blue`, or any other word are different pictures; `red-2` is similar to `red`,
 * and `red-copy` is nearly the same. Their outputs have the form of real ones, with real descriptors, so that
 * everything after the analysis is real. Analysis itself is tested in its own package. `red+blue` is a picture of two
 * objects side by side, for regions.
 */

const COLORS: Readonly<Record<string, string>> = { red: '#E01010', green: '#10B020', blue: '#1020D0' };

/** The outputs of a picture: JSON text as from an analysis. */
export function outputsOf(
  picture: string,
  modules: readonly string[] = ['color', 'content', 'copyspace', 'duplicate'],
): string {
  const [subject = '', variant] = picture.split('-');
  const hex = COLORS[subject] ?? '#808080';
  const outputs: Record<string, unknown> = {};
  if (modules.includes('color')) {
    outputs.color_descriptor = encodeDescriptor(colorQuery([{ hex, weight: 1 }]), 'color');
    outputs.color_palette_hex = [hex, '#FFFFFF'];
    outputs.color_palette_freq = [0.75, 0.25];
    outputs.color_names = [subject in COLORS ? subject : 'gray'];
    outputs.color_isolated = true;
  }
  if (modules.includes('content')) {
    outputs.content_descriptor = encodeDescriptor(near(subject, variant, dimensionsOf('content'), 0.5), 'content');
  }
  if (modules.includes('duplicate')) {
    outputs.duplicate_descriptor = encodeDescriptor(
      near(subject, variant, dimensionsOf('duplicate'), variant === 'copy' ? 0.02 : 3),
      'duplicate',
    );
  }
  // No points: only their analysis can make some that are found.
  if (modules.includes('parts')) outputs.parts_points = 'AgCQASwB';
  if (modules.includes('copyspace')) outputs.copyspace = [0, 1, 8];
  return JSON.stringify(outputs);
}

/** Analyzes such pictures: the bytes are their name, or a URL ends with it. `broken` and `missing` fail. */
export const analyzeTestPicture: AnalyzeImage = async (input, modules, { thumbnail, facts, region }) => {
  if ('text' in input) throw new AkinError('bad-request', 'No words are known here.');
  const whole =
    'url' in input ? (/([^/]+)\.jpg$/.exec(input.url)?.[1] ?? 'missing') : Buffer.from(input.bytes).toString();
  const objects = whole.split('+');
  const picture = region ? (objects[Math.floor((region.x + region.width / 2) * objects.length)] as string) : whole;
  if (picture === 'broken') throw new AkinError('image-undecodable', 'The picture is cut off.');
  if (picture === 'missing') throw new AkinError('image-unreachable', 'The address answered 404.');
  return {
    outputs: outputsOf(picture, modules),
    ...(thumbnail ? { thumbnail: Buffer.from(`RIFF0000WEBP${picture}`) } : {}),
    ...(facts ? { fields: { width: 40, caption: facts.name ?? '', keywords: 'lake; sun' } } : {}),
  };
};

function dimensionsOf(module: string): number {
  return MODULES.find(({ name }) => name === module)?.descriptor?.dimensions ?? 0;
}

/** A unit vector for the subject, moved a little for a variant. */
function near(subject: string, variant: string | undefined, dimensions: number, distance: number): Float32Array {
  const base = direction(subject, dimensions);
  if (variant === undefined) return base;
  const step = direction(`${subject}/${variant}`, dimensions);
  const moved = base.map((value, i) => value + distance * (step[i] as number));
  return unit(moved);
}

function direction(name: string, dimensions: number): Float32Array {
  let state = [...name].reduce((hash, char) => Math.imul(hash ^ (char.codePointAt(0) as number), 16777619), 2166136261);
  const random = () => {
    state = Math.imul(state ^ (state >>> 15), 2246822507) + 0x9e3779b9;
    return ((state >>> 0) / 4294967296) * 2 - 1;
  };
  return unit(Float32Array.from({ length: dimensions }, random));
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
