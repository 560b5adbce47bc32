import { readFile, writeFile } from 'node:fs/promises';
import { describeMachine } from './machine.mjs';

/** The input of planning. Each benchmark writes the part that it measures. */
const FILE = new URL('../plan/costs.json', import.meta.url);

/** @returns {Promise<Record<string, any>>} by part */
export const readCosts = async () => JSON.parse(await readFile(FILE, 'utf8'));

/**
 * Replaces one part of the measured costs.
 *
 * @param {string} part
 * @param {string} command that measures the part again
 * @param {object} figures
 */
export async function recordCosts(part, command, figures) {
  const costs = await readCosts().catch(() => ({}));
  const date = new Date().toISOString().slice(0, 10);
  costs[part] = { date, machine: describeMachine(), command, ...figures };
  await writeFile(FILE, `${JSON.stringify(costs, null, 2)}\n`);
}

/** Rounds a figure to three digits. */
export const short = (value) => Number(value.toPrecision(3));
