import sharp from 'sharp';

/**
 * The libvips loaders that are closed. Each is named, rather than closing all and opening six again, because blocking
 * is process-wide and worker threads set it up while others decode: for a moment those would find nothing open.
 * decodeImage also demands that libvips saw the type that the magic bytes promised, so that a loader missing here
 * still yields nothing.
 */
const CLOSED_LOADERS = [
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
  // Ultra HDR is read as the plain JPEG that it also is: its base picture is what a person sees on any screen.
  'Uhdr',
  'Vips',
].map((name) => `VipsForeignLoad${name}`);

let prepared = false;

/**
 * sharp, set up on first use for this module's needs. The settings hold for the whole process: no cache between
 * pictures, one libvips thread a picture (parallelism is across pictures), and no loader for SVG, PDF and other types
 * that akin does not read.
 */
export function preparedSharp(): typeof sharp {
  if (!prepared) {
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: CLOSED_LOADERS });
    prepared = true;
  }
  return sharp;
}
