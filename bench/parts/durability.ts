import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startSink } from '../hosts/sink.ts'
import { inRounds } from '../measure/rounds.ts'
import { median, ratioOf } from '../measure/statistics.ts'
import { openWorkspace } from '../ours/workspace.ts'
import type { Means, Part } from '../part.ts'
import { makeSlowDisk, type SlowDisk } from '../slow-disk/slow-disk.ts'
import { digits } from '../table/units.ts'
import { PICTURE_SETS, pictureSetIn } from '../trees/picture-set.ts'

export const durability: Part = {
  name: 'durability',
  about: 'what it costs that each intent is on the disk first, and what it saves to write many at once',
  async measure(means) {
    const { has, cache, say, short, scratch } = means
    // The slow disk is a library.
    if (!has('cc', 'all of it')) return
    mkdirSync(join(cache, 'pictures'), { recursive: true })
    const set = PICTURE_SETS.few
    const folder = pictureSetIn(join(cache, 'pictures'), set, () => say(`makes pictures (once): ${set.name}`))
    const disk = makeSlowDisk(scratch)
    for (const delayMs of short ? [10] : [0, 5, 20]) {
      say(`flushes that take ${delayMs} ms longer`)
      // A delay drowns whatever else a round may differ by.
      const { together, alone } = await inRounds(short || delayMs > 0 ? 1 : 2, {
        together: () => send(means, folder, disk, delayMs, 8),
        alone: () => send(means, folder, disk, delayMs, 1),
      })
      report(means, delayMs, together, alone)
    }
  },
}

interface Sent {
  /** Pictures. */
  perSecond: number
  flushes: number
}

async function send(
  { scratch }: Means,
  folder: string,
  disk: SlowDisk,
  delayMs: number,
  concurrency: number,
): Promise<Sent> {
  const home = join(scratch, 'durability')
  rmSync(home, { recursive: true, force: true })
  const sink = await startSink()
  try {
    const { baseUrl } = sink.listening
    const workspace = openWorkspace({ home, baseUrl, folder, uploads: { concurrency } })
    disk.flushes()
    const run = await workspace.albumd(['sync'], { env: disk.env(delayMs) })
    const { pictures } = await sink.seen()
    return { perSecond: pictures / run.seconds, flushes: disk.flushes() / pictures }
  } finally {
    await sink.stop()
  }
}

function report(means: Means, delayMs: number, together: Sent[], alone: Sent[]): void {
  const speedOf = (each: Sent[]) => each.map(({ perSecond }) => perSecond)
  const inWords = (each: Sent[]) => {
    const flushes = median(each.map(sent => sent.flushes))
    return `${digits(median(speedOf(each)))}/s, ${digits(flushes)} flushes a picture`
  }
  means.add({
    figure: `pictures a second, each flush ${delayMs} ms slower`,
    ours: `8 at once ${inWords(together)}`,
    theirs: `1 at once ${inWords(alone)}`,
    ratio: ratioOf(speedOf(together), speedOf(alone)),
    aim: '',
    met: null,
  })
}
