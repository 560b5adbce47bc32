import { fileURLToPath } from 'node:url';

/**
 * Folder of a content model of a few kB in the layout of Hugging Face. It recognizes colours, in pictures and in words.
 * A test of packages/modules writes it; do not edit it.
 */
export const TINY_TOWERS = fileURLToPath(new URL('../models/tiny-siglip', import.meta.url));
