import sharp from 'sharp';

/**
 * The libvips loaders that are blocked. Each is named, instead of blocking all and unblocking six: blocking is
 * process-wide, and worker threads start while others decode, so for a moment the others could decode nothing.
 * decodeImage also checks that libvips found the type that the magic bytes show, so a loader that is missing here
 * cannot be used either.
 */
const BLOCKED_LOADERS = [
  'Analyze',
  'Csv',
  'DcRaw',
  'Fits',
  'Jp2k',
  'Jxl',
  'Magick',
  'Magick7',
  'Mat',
  'Matrix',
  'Nifti',
  'OpenExr',
  'Openslide',
  'Pdf',
  'Ppm',
  'Rad',
  'Raw',
  'Svg',
  // Ultra HDR is read as plain JPEG: its base picture is what a normal screen shows.
  'Uhdr',
  'Vips',
].map((name) => `VipsForeignLoad${name}`);

let prepared = false;

/**
 * Configures sharp at the first call and returns it. The settings apply to the whole process: no cache between
 * pictures, one libvips thread for each picture (pictures run in parallel), and no loader for SVG, PDF and other types
 * that akin does not read.
 */
export function configuredSharp(): typeof sharp {
  if (!prepared) {
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: BLOCKED_LOADERS });
    prepared = true;
  }
  return sharp;
}
