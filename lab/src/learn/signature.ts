import type { Rows } from '@akin/modules/internal/learn/rows';
import { SIGNATURE_BITS } from '@akin/modules/internal/vectors/codebook';
import { covariance, eigen, mean, nearestOrthogonal, timesTransposed, transpose } from './linear.ts';
import { refineSignature } from './refine-signature.ts';

const ITERATIONS = 50;

/**
 * Computes the hyperplanes of the binary signature by iterative quantization (Gong & Lazebnik, CVPR 2011): the 64
 * principal axes of the descriptors, rotated so that the signs preserve distances as well as possible; then adjusted so
 * that neighbours share bits.
 */
export function trainSignature(vectors: Rows, random: () => number): { planes: Float64Array; offsets: Float64Array } {
  const { width } = vectors;
  const center = mean(vectors);
  const axes = eigen(covariance(vectors, center), width).vectors.subarray(0, SIGNATURE_BITS * width);
  const centered = Float64Array.from(vectors.values, (value, i) => value - (center[i % width] as number));
  const projected = timesTransposed(centered, axes, width);
  const columns = transpose(projected, SIGNATURE_BITS);
  let rotation = nearestOrthogonal(
    Float64Array.from({ length: SIGNATURE_BITS ** 2 }, () => random() - 0.5),
    SIGNATURE_BITS,
  );
  for (let i = 0; i < ITERATIONS; i++) {
    // The rows of `rotation` are directions. Alternate: take the signs of the projections, then the rotation that fits
    // these signs best.
    const signs = timesTransposed(projected, rotation, SIGNATURE_BITS).map((value) => (value > 0 ? 1 : -1));
    const match = timesTransposed(transpose(signs, SIGNATURE_BITS), columns, vectors.count);
    rotation = nearestOrthogonal(match, SIGNATURE_BITS);
  }
  const planes = timesTransposed(rotation, transpose(Float64Array.from(axes), width), SIGNATURE_BITS);
  const offsets = timesTransposed(planes, center, width);
  refineSignature(vectors, planes, offsets, random);
  return { planes, offsets };
}
