import { parseArgs } from 'node:util';

/**
 * The flags of a script, all of which take a value.
 *
 * @template {Record<string, string>} Defaults
 * @param {Defaults} defaults by name; an empty text where there is none
 * @returns {Defaults}
 */
export function readOptions(defaults) {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, { type: 'string', default: value }]),
  );
  return parseArgs({ options }).values;
}

/** The values of a flag that takes several, by comma. */
export const listOf = (text) => text.split(',').filter(Boolean);
