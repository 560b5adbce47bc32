import { fileURLToPath } from 'node:url';

/**
 * Folder of a content model of a few kB in the layout of Hugging Face that knows colours, in pictures and in words. Written
 * by a test of packages/modules; not to be changed.
 */
export const TINY_TOWERS = fileURLToPath(new URL('../models/tiny-siglip', import.meta.url));
