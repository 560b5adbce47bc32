// npm run kernel: compiles kernel.ts and writes it as src/kernel-bytes.ts. The script downloads AssemblyScript (100 MB
// with its compiler). It is not a dependency, because only a change of the kernel needs it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'akin-kernel-'));
const source = fileURLToPath(new URL('kernel.ts', import.meta.url));
const compiled = join(folder, 'kernel.wasm');
try {
  execFileSync(
    'npx',
    [
      ...['--yes', '--package=assemblyscript@0.28.20', '--', 'asc', source, '--outFile', compiled],
      ...['--optimizeLevel', '3', '--noAssert', '--runtime', 'stub', '--importMemory', '--enable', 'simd'],
    ],
    { cwd: folder, stdio: 'inherit' },
  );
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex');
  const text = readFileSync(compiled).toString('base64');
  writeFileSync(
    fileURLToPath(new URL('../src/kernel-bytes.ts', import.meta.url)),
    `// Made by \`npm run kernel\` out of kernel/kernel.ts.

/** SHA-256 of the source. */
export const KERNEL_SOURCE = '${hash}';

/** The compiled module, in base64. */
export const KERNEL_BYTES =
  '${text}';
`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
