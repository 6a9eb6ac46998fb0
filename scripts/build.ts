import { chmodSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')

/**
 * Makes dist/: the program as few files, for Node takes half of a short command's time to find and read 700 modules. All
 * of them stand in dist/cli/. So a source that looks for what is beside the code stands two folders deep as well.
 */
export async function build(): Promise<void> {
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
  const bundle = await rolldown({
    cwd: ROOT,
    input: { albumd: 'src/cli/albumd.ts', 'scan-worker': 'src/local/scan-worker.ts' },
    platform: 'node',
    // It has a part that is not JavaScript.
    external: ['better-sqlite3'],
    // Bottleneck hides from bundlers what only those need who have a Redis.
    checks: { eval: false },
  })
  await bundle.write({ dir: 'dist/cli', format: 'esm', chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
  for (const folder of ['cli/try/pictures', 'page/assets'])
    cpSync(join(ROOT, 'src', folder), join(ROOT, 'dist', folder), { recursive: true })
  chmodSync(join(ROOT, 'dist/cli/albumd.js'), 0o755)
}

if (import.meta.main) await build()
