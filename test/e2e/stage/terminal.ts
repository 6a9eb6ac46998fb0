import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'
import { PROGRAM, type Stage } from './stage.ts'

export const hasScript = existsSync('/usr/bin/script')

/** A command of albumd at a terminal of its own, that of script(1). `args`: as a shell reads them. */
export function atTerminal({ home }: Pick<Stage, 'home'>, args: string) {
  const { ALBUMD_API_KEY, ...env } = process.env
  const command = `'${process.execPath}' '${PROGRAM}' ${args}`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: home,
    env: { ...env, HOME: home },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  let out = ''
  let seen = 0
  child.stdout.on('data', chunk => {
    out += chunk
  })
  return {
    out: () => out,
    ended,
    /** Waits to be asked, then types. */
    async answer(question: string, text: string): Promise<void> {
      await expect.poll(() => out.indexOf(question, seen)).toBeGreaterThanOrEqual(0)
      seen = out.indexOf(question, seen) + question.length
      child.stdin.write(text)
    },
  }
}
