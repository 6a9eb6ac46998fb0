import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One run of a program from its start to its end. */
export interface TimedRun {
  seconds: number
  /** Of user and system, with the children that it waited for. */
  cpuSeconds: number
  /** The most memory that it, or one of those children, held at once: resident, in MiB. */
  peakMb: number
  code: number
  /** The end of what it printed on both of its outputs. */
  said: string
}

export interface RunOptions {
  cwd?: string
  env?: NodeJS.ProcessEnv
  /** Exit codes that are as they should be: 0 by default. */
  codes?: readonly number[]
  /** Whether what it prints is read; else it goes nowhere, as a listing of a million lines should. */
  heard?: boolean
}

/** What GNU time measures: Node does not tell what a child has used. */
export async function timedRun(
  command: string,
  args: readonly string[],
  { cwd, env = process.env, codes = [0], heard = true }: RunOptions = {},
): Promise<TimedRun> {
  const folder = mkdtempSync(join(tmpdir(), 'albumd-bench-'))
  const report = join(folder, 'time')
  const began = process.hrtime.bigint()
  try {
    const out = heard ? 'pipe' : 'ignore'
    const line = ['--quiet', '--format=%U %S %M', `--output=${report}`, command, ...args]
    const child = spawn('time', line, { cwd, env, stdio: ['ignore', out, 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', chunk => {
        said = `${said}${chunk}`.slice(-4000)
      })
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', code => resolve(code ?? -1))
    })
    const seconds = Number(process.hrtime.bigint() - began) / 1e9
    if (!codes.includes(code)) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said}`)
    const [user, system, peak] = readFileSync(report, 'utf8').trim().split(' ').map(Number)
    return { seconds, cpuSeconds: user! + system!, peakMb: peak! / 1024, code, said }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export function timesOf(runs: readonly TimedRun[]): number[] {
  return runs.map(run => run.seconds)
}
