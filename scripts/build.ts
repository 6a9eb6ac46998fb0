import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'

/** Makes dist/: JavaScript from the sources, and what they read beside themselves. */
rmSync('dist', { recursive: true, force: true })
execFileSync('tsc', ['--project', 'tsconfig.build.json'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
for (const folder of ['cli/try/pictures', 'page/assets'])
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })
chmodSync('dist/cli/albumd.js', 0o755)
