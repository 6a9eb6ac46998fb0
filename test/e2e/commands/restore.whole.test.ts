import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { UNLIMITED } from '../../host/choices.ts'
import { png } from '../../pictures.ts'
import { startAlbumd } from '../stage/process.ts'
import { QUICK, setStage } from '../stage/stage.ts'

/** So many that none of the kills can come after the last of them. */
const PICTURES = 500
const KILLS = 2

it('restore --from-host brings back all that the host lists over SIGKILLs, with pictures and state lost', async () => {
  const stage = await setStage({ host: { requestsPerSecond: UNLIMITED } })
  stage.configure({
    host: { base_url: stage.baseUrl, api_key_file: 'api-key', requests_per_second: QUICK },
  })
  const pictures = Array.from({ length: PICTURES }, (_, n) => `${n % 7}/${n % 3}/${n}.png`)
  for (const [n, path] of pictures.entries()) stage.write(path, png(2 + n, 2).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  const kept = new Map(pictures.map(path => [path, readFileSync(join(stage.pictures, path))]))
  for (const lost of [stage.pictures, join(stage.home, 'state')]) rmSync(lost, { recursive: true })

  const back = join(stage.home, 'back')
  const there = () =>
    existsSync(join(back, 'Photos'))
      ? readdirSync(join(back, 'Photos'), { recursive: true, encoding: 'utf8' }).filter(name =>
          name.endsWith('.png'),
        )
      : []
  for (let kills = 0; kills < KILLS; kills++) {
    const before = there().length
    const child = startAlbumd(stage, ['restore', back, '--from-host'])
    let hasEnded = false
    void child.ended.then(() => (hasEnded = true))
    while (!hasEnded && there().length <= before) await pause(20)
    child.kill('SIGKILL')
    await child.ended
  }
  expect(there().length).toBeLessThan(PICTURES)
  const last = await stage.albumd('restore', back, '--from-host', '--json', '--config', stage.config)
  expect(last).toMatchObject({ code: 0, err: '' })
  const report = JSON.parse(last.out)
  expect(report).toMatchObject({ missing: 0, proved: 0, unproved: PICTURES, problems: [] })
  expect(report.there).toBeGreaterThanOrEqual(KILLS)
  expect(there().sort()).toEqual([...pictures].sort())
  for (const [path, bytes] of kept) expect(readFileSync(join(back, 'Photos', path))).toEqual(bytes)
})
