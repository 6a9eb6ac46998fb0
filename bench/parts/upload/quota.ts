import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSink } from '../../hosts/sink.ts'
import { openWorkspace } from '../../ours/workspace.ts'
import type { Means } from '../../part.ts'
import { tinyPicture } from '../../trees/picture.ts'
import { fileName } from '../../trees/shape.ts'

/** As many as albumd sends at once, unless told otherwise. */
const CONCURRENCY = 8

/** How often a host with `quota` uploads a day is asked: several at once may hear no, but a second pass knows. */
export async function dayOfQuota(means: Means, quota: number): Promise<void> {
  const pictures = quota + 100
  means.say(`${pictures} pictures for a day's quota of ${quota}`)
  const folder = join(means.scratch, 'quota')
  mkdirSync(folder)
  for (let number = 0; number < pictures; number++)
    writeFileSync(join(folder, fileName(number)), tinyPicture(number))
  const sink = await startSink({ dailyQuota: quota })
  try {
    const home = join(means.scratch, 'quota-albumd')
    const workspace = openWorkspace({ home, baseUrl: sink.listening.baseUrl, folder })
    const askedBy = async () => {
      await workspace.albumd(['sync'], { codes: [3] })
      return sink.seen()
    }
    const { granted, refused } = await askedBy()
    const next = await askedBy()
    const again = next.granted + next.refused
    means.add({
      figure: `credentials of a day's quota of ${quota.toLocaleString('en-US')}, requests beyond, requests of the next pass`,
      ours: `${granted.toLocaleString('en-US')}, ${refused}, ${again}`,
      theirs: '',
      ratio: null,
      aim: `all, ≤ ${CONCURRENCY}, 0`,
      met: granted === quota && refused <= CONCURRENCY && again === 0,
    })
  } finally {
    await sink.stop()
    rmSync(folder, { recursive: true })
  }
}
