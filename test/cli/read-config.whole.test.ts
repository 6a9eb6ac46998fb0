import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { runProgram } from '../e2e/stage/stage.ts'
import { tempFolder } from '../temp-folder.ts'

/** A config, and a folder of its own for compiled code. */
function stageOf() {
  const home = tempFolder()
  const cache = tempFolder()
  const config = join(home, 'albumd.yaml')
  const write = (changes: object) => {
    const host = { base_url: 'http://127.0.0.1:9/api/v1', requests_per_second: { list: 'unlimited' } }
    writeFileSync(config, stringify({ host, mirrors: [{ folder: 'pictures', album: 'A' }], ...changes }))
  }
  const albums = async (env: NodeJS.ProcessEnv = {}) => {
    const ran = await runProgram(['status', '--json', '-c', config], home, {
      NODE_COMPILE_CACHE: cache,
      ...env,
    })
    return ran.code === 0 ? JSON.parse(ran.out).mirrors.map((mirror: { album: string }) => mirror.album) : ran
  }
  const kept = () => {
    const files = readdirSync(cache, { recursive: true, encoding: 'utf8' })
    return files.filter(name => name.endsWith('/config')).map(name => join(cache, name))
  }
  write({})
  return { home, write, albums, kept }
}

it('a config that was valid is kept for its owner alone, and used again', async () => {
  const { albums, kept } = stageOf()
  expect(await albums()).toEqual(['A'])
  const [file] = kept()
  expect(statSync(file!).mode & 0o777).toBe(0o600)
  const { ino } = statSync(file!)
  expect(await albums()).toEqual(['A'])
  expect(statSync(file!).ino).toBe(ino)
})

it('a changed config is checked anew, and one with a mistake is not kept', async () => {
  const { write, albums, kept } = stageOf()
  await albums()
  write({ mirrors: [{ folder: 'pictures', album: 'B' }] })
  expect(await albums()).toEqual(['B'])
  const before = readFileSync(kept()[0]!)
  write({ mirors: [] })
  for (const _ of [1, 2])
    expect(await albums()).toMatchObject({ code: 2, err: expect.stringContaining('mirrors') })
  expect(readFileSync(kept()[0]!)).toEqual(before)
})

it('what the environment says of the config counts, and so does its path', async () => {
  const { home, albums, kept } = stageOf()
  await albums()
  const { ino } = statSync(kept()[0]!)
  await albums({ STATE_DIRECTORY: join(home, 'elsewhere') })
  expect(statSync(kept()[0]!).ino).not.toBe(ino)
})

it('what is kept and can not be read is written anew', async () => {
  const { albums, kept } = stageOf()
  await albums()
  writeFileSync(kept()[0]!, 'no config')
  expect(await albums()).toEqual(['A'])
  expect(readFileSync(kept()[0]!, 'latin1')).toContain('base_url')
})
