import { parseArgs } from 'node:util';

/**
 * Reads the flags of a script. Each flag takes a value.
 *
 * @template {Record<string, string>} Defaults
 * @param {Defaults} defaults the default values by name; an empty text means that there is none
 * @returns {Defaults}
 */
export function readOptions(defaults) {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, { type: 'string', default: value }]),
  );
  return parseArgs({ options }).values;
}

/** Splits the value of a flag at its commas. */
export const listOf = (text) => text.split(',').filter(Boolean);
