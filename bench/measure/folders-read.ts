import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** The folders a process reads during `work`, by strace; null where nobody may trace. `log`: a file that may be written. */
export async function foldersRead(
  pid: number,
  log: string,
  during: () => Promise<void>,
): Promise<Set<string> | null> {
  const args = ['-f', '-y', '-s', '4096', '-e', 'trace=getdents64,getdents', '-o', log, '-p', String(pid)]
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(strace, 'exit')
  // It says that it is attached, or why it can't.
  const [said] = await Promise.race([once(strace.stderr, 'data'), ended])
  const isAttached = String(said).includes('attached')
  try {
    await during()
  } finally {
    strace.kill('SIGINT')
    await ended
  }
  if (!isAttached) return null
  const calls = readFileSync(log, 'utf8').matchAll(/getdents(?:64)?\(\d+<([^>]*)>/g)
  return new Set([...calls].map(([, folder]) => folder!))
}
