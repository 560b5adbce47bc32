import { AkinError } from '@akin/domain';
import { installCommand } from '@akin/imaging';

/** The error for a package that a content model needs; its message says how to install it. */
export function missingPackageError(name: string): AkinError {
  return new AkinError(
    'conflict',
    `This content model needs ${name}, which is not installed. Run: ${installCommand(name)}`,
  );
}
