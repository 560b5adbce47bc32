// npm run kernel, in a package with a kernel: compiles kernel/kernel.ts and writes it as src/kernel-bytes.ts, or as the
// file that is given. The script downloads AssemblyScript (100 MB with its compiler). It is not a dependency, because
// only a change of a kernel needs it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'akin-kernel-'));
const source = resolve('kernel/kernel.ts');
const target = resolve(process.argv[2] ?? 'src/kernel-bytes.ts');
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
    target,
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
