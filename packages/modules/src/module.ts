import type { ModuleManifest } from '@akin/domain';
import type { Pixels } from '@akin/imaging';
import type { Picture } from './picture/picture.ts';

/** A vector and the name of its model: vectors of different models are never compared. */
export interface Descriptor {
  /** For example `akin-4:74d3b08d` or `color-2`; a changed computation needs a new name. At most 100 of `\w . : -`. */
  readonly model: string;
  /** Unit length. akin rounds it to half precision. */
  readonly vector: Float32Array;
}

/**
 * The result of a module: a value for each output of its manifest, without the codes that akin computes from a
 * descriptor.
 */
export type ModuleValues = Readonly<
  Record<string, boolean | string | bigint | number | readonly string[] | readonly number[] | Descriptor>
>;

/** The scores of three distances that training measures on a folder of pictures. */
export interface CalibrationScores {
  readonly usual: number;
  readonly rare: number;
  /** Score of `nearAt` times the distance of `rare`, which does not depend on how many copies the folder contains. */
  readonly near: number;
  readonly nearAt: number;
}

/** The default export of `<module>/module.ts`. */
export interface Module {
  readonly manifest: ModuleManifest;
  /**
   * Analyzes one picture in a worker thread, from its pixels at some size or the features of a network. Equal pixels
   * give equal values, independent of which other modules run.
   */
  readonly analyze: (picture: Picture) => ModuleValues | Promise<ModuleValues>;
  /** The scores of the module's descriptor, if they differ from `NON_MATCHING_SCORES`. Used by training. */
  readonly scores?: CalibrationScores;
  /** Drawn pictures with the expected results; the contract test checks all of them. */
  readonly examples: readonly Example[];
}

/** Either the expected values, or a picture that must be nearer to one picture than to another. */
type Example = { readonly title: string; readonly picture: () => Pixels } & (
  | { readonly expected: ModuleValues }
  | { readonly nearPicture: () => Pixels; readonly farPicture: () => Pixels }
);
