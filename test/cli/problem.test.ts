import { spawnSync } from 'node:child_process'
import { openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeError } from '../../src/cli/problem.ts'
import { PROGRAM } from '../e2e/stage/stage.ts'
import { tempFolder } from '../temp-folder.ts'

describe('an error', () => {
  it('has the exit code of its kind, and 1 where it is a bug', () => {
    expect(describeError(Object.assign(new Error('held'), { code: 'LOCKED' }))).toEqual({
      exitCode: 4,
      code: 'LOCKED',
      lines: 'held',
    })
    expect(describeError(new TypeError('x is undefined'))).toMatchObject({ exitCode: 1 })
  })

  it('says what to do where too many files are open, which is none', () => {
    const { exitCode, lines } = describeError(
      Object.assign(new Error('too many, open /s'), { code: 'EMFILE' }),
    )
    expect(exitCode).toBe(1)
    expect(lines).toMatch(/^too many, open \/s; .*ulimit -n/)
  })

  it('of the daemon is one line where both outputs are the journal', () => {
    const journal = join(tempFolder(), 'journal')
    const fd = openSync(journal, 'w')
    const config = `${journal}.yaml`
    writeFileSync(config, '')
    const { dev, ino } = statSync(journal, { bigint: true })
    const env = { ...process.env, JOURNAL_STREAM: `${dev}:${ino}` }
    const { status } = spawnSync(process.execPath, [PROGRAM, 'run', '-c', config], {
      stdio: ['ignore', fd, fd],
      env,
    })
    expect(status).toBe(2)
    expect(readFileSync(journal, 'utf8')).toMatch(/^<3>\{.*"event":"failed".*\}\n$/)
  })
})
