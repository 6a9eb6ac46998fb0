import { spawnSync } from 'node:child_process'

const COMPILER = process.env.CC ?? 'cc'

/** Whether a library can be put before the C library's, by LD_PRELOAD: that needs Linux and a compiler. */
export function canPreload(): boolean {
  return process.platform === 'linux' && spawnSync(COMPILER, ['--version']).status === 0
}

/** Makes such a library of a C file. */
export function compilePreload(source: string, library: string): void {
  const compiled = spawnSync(COMPILER, ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  })
  if (compiled.status !== 0) throw new Error(compiled.stderr)
}
