import { defineConfig } from 'vite';

// Every asset is a separate file, so that the page works with a content security policy without inline code.
export default defineConfig({
  base: './',
  build: { outDir: 'dist', assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: 'es2022' },
});
