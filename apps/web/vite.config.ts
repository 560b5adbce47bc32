import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const FOLDER = 'dist';

/** Writes each text of the page also compressed: the server only sends files. Over http, browsers take only gzip. */
function compressFiles(): Plugin {
  return {
    name: 'compress-files',
    closeBundle() {
      const folder = path.join(import.meta.dirname, FOLDER);
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|html|svg|txt)$/.test(name)) continue;
        const file = path.join(folder, name);
        const content = readFileSync(file);
        writeFileSync(`${file}.br`, brotliCompressSync(content));
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}

// Every asset is a separate file, so that the page works with a content security policy without inline code.
export default defineConfig({
  base: './',
  plugins: [compressFiles()],
  build: { outDir: FOLDER, assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: 'es2022' },
});
