import { AkinError } from '@akin/domain';
import type { Command } from '../src/update/read-commands.ts';

/** What is wrong with a body that is being read: as a whole, or with its first invalid command. */
export async function commandRefusal(reading: Promise<Command[]>): Promise<string | Command[]> {
  const textOf = ({ code, message }: AkinError) => `${code}: ${message}`;
  try {
    const commands = await reading;
    const [invalid] = commands.flatMap((one) => (one.kind === 'invalid' ? [one.error] : []));
    return invalid ? textOf(invalid) : commands;
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    return textOf(error);
  }
}
