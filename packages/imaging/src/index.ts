export * from './decode.ts';
export * from './limits.ts';
export * from './resize.ts';
export * from './sniff.ts';
export * from './thumbnail.ts';
