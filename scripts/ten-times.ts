import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { loadavg } from 'node:os'
import { commandLine } from './command-line.ts'

const { values } = commandLine({
  name: 'test:ten',
  about: `npm test again and again beside other work: prints how long each run took, and what failed. A run that fails or takes longer
than the limit is a failure, and the end is 1 then. Ten runs take about 40 minutes on two cores.`,
  options: {
    times: { value: 'N', least: 1, usual: 10, does: 'so many runs' },
    busy: { value: 'N', least: 0, usual: 5, does: 'beside so many processes that never wait' },
    limit: { value: 'SECONDS', least: 1, usual: 300, does: 'the longest that a run may take' },
  },
})
const { times, limit } = values

/** The other work: processes that never wait, so each is one more of the load. */
const busy = Array.from({ length: values.busy }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
)
let tests: ChildProcess | undefined
process.on('exit', () => {
  for (const child of busy) child.kill('SIGKILL')
  tests?.kill()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const say = (line: string) => void process.stdout.write(`${line}\n`)

let bad = 0
for (let run = 1; run <= times; run++) {
  const began = performance.now()
  const { status, said } = await runTests()
  const seconds = Math.round((performance.now() - began) / 1000)
  const isGood = status === 0 && seconds <= limit
  if (!isGood) bad++
  const load = loadavg()[0]!.toFixed(1)
  say(`${isGood ? 'good' : 'bad '} ${run} of ${times}: ${seconds} s, load ${load}, exit code ${status}`)
  if (status !== 0) say(failures(said))
}
say(`${times - bad} of ${times} good`)
process.exit(bad === 0 ? 0 : 1)

/** One `npm test`: its exit code, and all it said. */
function runTests(): Promise<{ status: number | null; said: string }> {
  const options = { maxBuffer: 2 ** 28, env: { ...process.env, NO_COLOR: '1' } }
  return new Promise(resolve => {
    const child = execFile(
      'npm',
      ['test', '--silent', '--', '--reporter=dot'],
      options,
      (_error, stdout, stderr) => resolve({ status: child.exitCode, said: stdout + stderr }),
    )
    tests = child
  })
}

/** What failed, and why, as vitest tells it. */
function failures(said: string): string {
  const from = said.search(/^.*Failed (Suites|Tests)/m)
  return from < 0 ? said.slice(-5000) : said.slice(from)
}
