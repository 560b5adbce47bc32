import { AkinError } from '@akin/domain';
import { installCommand } from '@akin/imaging';

export function missingPackageError(name: string): AkinError {
  return new AkinError(
    'conflict',
    `This content model needs ${name}, which is not installed. Run: ${installCommand(name)}`,
  );
}
