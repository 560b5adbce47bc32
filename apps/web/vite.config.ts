import { defineConfig } from 'vite';

// Everything is a file of its own, so that the page works under a content security policy without inline parts.
export default defineConfig({
  base: './',
  build: { outDir: 'dist', assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: 'es2022' },
});
