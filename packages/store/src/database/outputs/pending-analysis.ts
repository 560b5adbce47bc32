import type { FieldValue, ModuleManifest, OutputField } from '@akin/domain';
import { isColumn } from '../collections/collection-tables.ts';
import type { ParsedOutputs } from '../model-sets.ts';

/*
 * Outputs are stored once, when they are accepted: the descriptors in the tables of their modules, and the values of
 * columns with the operation, until a commit moves these into `documents`.
 */

export interface PendingAnalysis {
  /** The modules with a descriptor, and the model that made it: see {@link UNKNOWN_MODEL} and {@link GONE_MODEL}. */
  readonly models: ReadonlyMap<string, string>;
  /** The values of columns, by name of the output. */
  readonly fields: ReadonlyMap<string, FieldValue>;
}

/** For models that are not to be checked. */
export const UNKNOWN_MODEL = '';
/** The name of no model: the collection has changed its model since, and removed the descriptor. */
export const GONE_MODEL = '?';

/** By module: the model of its descriptor, or null; then the values of its columns, in the order of its manifest. */
type Written = Record<string, readonly unknown[]>;

/** The model of each descriptor. @param models those of descriptors that do not name theirs, by module */
export function modelsIn({ descriptors }: ParsedOutputs, models: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(Array.from(descriptors, ([name, { model }]) => [name, model ?? models.get(name) ?? UNKNOWN_MODEL]));
}

export function writeAnalysis(
  { fields, descriptors }: ParsedOutputs,
  modules: readonly ModuleManifest[],
  models: ReadonlyMap<string, string>,
): string {
  const written: Record<string, unknown[]> = {};
  for (const { name, outputs } of modules) {
    const values = outputs.filter(isColumn).map((output) => writtenValue(fields.get(output.name)));
    if (!descriptors.has(name) && values.every((value) => value === null)) continue;
    written[name] = [models.get(name), ...values];
  }
  return JSON.stringify(written);
}

export function readAnalysis(text: string, modules: readonly ModuleManifest[]): PendingAnalysis {
  const written: Written = JSON.parse(text);
  const models = new Map<string, string>();
  const fields = new Map<string, FieldValue>();
  for (const { name, outputs } of modules) {
    const [model, ...values] = written[name] ?? [null];
    if (typeof model === 'string') models.set(name, model);
    for (const [i, output] of outputs.filter(isColumn).entries()) {
      const value = values[i] ?? null;
      if (value !== null) fields.set(output.name, readValue(output, value));
    }
  }
  return { models, fields };
}

/** JSON has neither whole numbers of 64 bits nor -0: they are texts. */
function writtenValue(value: FieldValue | undefined): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : value;
  return Array.isArray(value) ? value.map(writtenValue) : (value ?? null);
}

function readValue({ type }: OutputField, value: unknown): FieldValue {
  switch (type) {
    case 'long':
      return BigInt(value as string);
    case 'longs':
      return (value as string[]).map(BigInt);
    case 'double':
      return Number(value);
    case 'doubles':
      return (value as unknown[]).map(Number);
    default:
      return value as FieldValue;
  }
}
