import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { runCommand } from '../../../src/daemon/notify/run-command.ts'
import { tempFolder } from '../../temp-folder.ts'

const NEVER = new AbortController().signal

it('runs a shell command with the given variables, and no others', async () => {
  const file = join(tempFolder(), 'env')
  for (const name of ['ALBUMD_API_KEY', 'CREDENTIALS_DIRECTORY', 'MORE']) vi.stubEnv(name, 'secret')
  onTestFinished(() => void vi.unstubAllEnvs())
  const said = { ALBUMD_EVENT: 'trouble', FILE: file }
  expect(await runCommand('env > "$FILE" && echo "$ALBUMD_EVENT" >> "$FILE"', said, NEVER)).toBeNull()
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  expect(lines.at(-1)).toBe('trouble')
  const names = lines.slice(0, -1).map(line => line.split('=')[0]!)
  const desktop = ['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY']
  const known = ['PATH', 'HOME', 'LANG', 'TZ', 'USER', ...desktop]
  // The shell adds these variables by itself.
  const expected = [...known, 'ALBUMD_EVENT', 'FILE', 'PWD', 'OLDPWD', 'SHLVL', '_']
  expect(names.filter(name => !expected.includes(name))).toEqual([])
  expect(names).toContain('PATH')
})

it.each([
  ['exit 3', 'it ended with 3'],
  ['echo no such access >&2; exit 4', 'it ended with 4 and said "no such access"'],
  ['kill -TERM $$', 'it was ended by SIGTERM'],
])('answers what went wrong with %s', async (command, said) => {
  expect(await runCommand(command, {}, NEVER)).toBe(said)
})

it('answers why the system refuses to start the command', async () => {
  expect(await runCommand('true', { LONG: 'x'.repeat(200_000) }, NEVER)).toContain('E2BIG')
  const module = join(import.meta.dirname, '../../../src/daemon/notify/run-command.ts')
  const script = `
    import { openSync } from 'node:fs'
    import { runCommand } from ${JSON.stringify(module)}
    const open = () => { for (;;) openSync('/dev/null') }
    try { open() } catch {}
    globalThis.said = await runCommand('true', {}, new AbortController().signal)
    process.exitCode = said?.includes('EMFILE') ? 0 : 1`
  execFileSync('sh', [
    '-c',
    'ulimit -n 200; exec "$0" --input-type=module --eval "$1"',
    process.execPath,
    script,
  ])
})

it('ends a command, and the processes that it started, when albumd ends', async () => {
  const file = join(tempFolder(), 'begun')
  const stop = new AbortController()
  const running = runCommand(
    `(sleep 600; echo late > '${file}.late') & echo $! > '${file}'; wait`,
    {},
    stop.signal,
  )
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/\d+\n/)
  const child = Number(readFileSync(file, 'utf8'))
  stop.abort()
  expect(await running).toBe('albumd ended')
  await expect.poll(() => isThere(child)).toBe(false)
})

it('does not wait for processes that a command leaves in the background', async () => {
  const file = join(tempFolder(), 'pid')
  const command = `sleep 600 & echo $! > '${file}'`
  expect(await runCommand(command, {}, NEVER)).toBeNull()
  process.kill(Number(readFileSync(file, 'utf8')))
})

/** Whether the process runs. A zombie has ended, and waits for its parent. */
function isThere(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
