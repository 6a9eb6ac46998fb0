import { expect, it } from 'vitest'
import { runProgram } from '../e2e/stage/stage.ts'

async function refusal(...args: string[]): Promise<string> {
  const { code, err } = await runProgram(args, import.meta.dirname)
  expect({ code, lines: err.split('\n').length }).toEqual({ code: 2, lines: 2 })
  return err
}

it.each([
  [['status', '-c', 'a', '-c', 'b'], '--config is given more than once'],
  [['ls', '--format', 'json', '--format', 'csv'], '--format is given more than once'],
  [['--log-level', 'debug', 'status', '--log-level', 'info'], '--log-level is given more than once'],
])('%j is refused: nobody can tell which is meant', async (args, said) => {
  expect(await refusal(...args)).toContain(said)
})

it.each(['--dry-run=yes', '--dry-run=1', '--dry-run='])('sync %s is no sync in earnest', async option => {
  expect(await refusal('sync', option)).toMatch(/^albumd: --dry-run=.*: it takes no value; say --dry-run\./)
})

it('names what is missing', async () => {
  expect(await refusal('url')).toContain('"albumd url <file>"')
  expect(await refusal('deletions')).toContain('"albumd deletions <action> [path]"')
})
