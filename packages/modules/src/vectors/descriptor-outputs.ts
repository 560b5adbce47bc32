import type { ModuleManifest, OutputField } from '@akin/domain';

/**
 * The part of the manifest that all modules with a descriptor share: the vector, and the four codes that akin computes
 * from it with the module's codebook. A module returns only the vector.
 */
export function descriptorOutputs(
  module: string,
  dimensions: number,
): { outputs: readonly OutputField[]; descriptor: NonNullable<ModuleManifest['descriptor']> } {
  return {
    outputs: [
      { name: `${module}_cluster`, type: 'long', returnedByDefault: false },
      { name: `${module}_rerank`, type: 'long', returnedByDefault: true },
      { name: `${module}_descriptor`, type: 'string', returnedByDefault: false },
      { name: `${module}_lopq`, type: 'string', returnedByDefault: false },
      { name: `${module}_nclusters`, type: 'string', returnedByDefault: false },
    ],
    descriptor: { output: `${module}_descriptor`, cell: `${module}_cluster`, dimensions },
  };
}
