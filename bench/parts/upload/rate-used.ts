import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isCredential, startObservedHost } from '../../hosts/observed-host.ts'
import { openWorkspace } from '../../ours/workspace.ts'
import type { Means } from '../../part.ts'
import { digits } from '../../table/units.ts'
import { randomPicture } from '../../trees/picture-set.ts'
import { fileName } from '../../trees/shape.ts'

/** §8: in any second. */
const PERMITTED = 10

/** How much of what a strict host permits is used. Nobody else keeps to such a limit, so nobody stands beside. */
export async function rateUsed(means: Means, pictures: number): Promise<void> {
  means.say(`sends ${pictures} pictures to a host that permits ${PERMITTED} a second`)
  const folder = join(means.scratch, 'rate')
  mkdirSync(folder)
  for (let number = 0; number < pictures; number++)
    writeFileSync(join(folder, fileName(number)), randomPicture(64, 104))
  const host = await startObservedHost({ data: join(means.scratch, 'rate-host'), port: 0 })
  try {
    await sleep(2000)
    const { baseUrl } = host.listening
    const home = join(means.scratch, 'rate-albumd')
    const run = await openWorkspace({ home, baseUrl, folder, limited: true }).albumd(['sync'])
    const answered = await host.seen()
    const asked = answered.filter(isCredential)
    const tooMuch = answered.filter(({ status }) => status === 429).length
    if (asked.length < pictures)
      throw new Error(`${asked.length} of ${pictures} were asked for:\n${run.said}`)
    const took =
      Math.max(...asked.map(({ beganMs }) => beganMs)) - Math.min(...asked.map(({ beganMs }) => beganMs))
    // The first ten may come at once, and then ten each second.
    const least = Math.floor((asked.length - 1) / PERMITTED) * 1000
    const used = least / took
    means.add({
      figure: `share of the permitted rate that is used, ${pictures} pictures`,
      ours: `${digits(used * 100)} %`,
      theirs: '',
      ratio: null,
      aim: '≥ 97 %',
      met: used >= 0.97,
    })
    means.add({
      figure: `answers 429, ${pictures} pictures`,
      ours: String(tooMuch),
      theirs: '',
      ratio: null,
      aim: '0',
      met: tooMuch === 0,
    })
    means.add({
      figure: `requests a picture, ${pictures} pictures`,
      ours: digits(answered.length / pictures),
      theirs: '',
      ratio: null,
      aim: '2, and a few for the albums',
      met: answered.length <= pictures * 2 + 20,
    })
  } finally {
    await host.stop()
    rmSync(folder, { recursive: true })
  }
}
