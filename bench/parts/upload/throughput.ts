import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startSink } from '../../hosts/sink.ts'
import { inRounds } from '../../measure/rounds.ts'
import { median, ratioOf, spreadOf } from '../../measure/statistics.ts'
import type { TimedRun } from '../../measure/timed-run.ts'
import { openWorkspace } from '../../ours/workspace.ts'
import type { Means } from '../../part.ts'
import { curl, rcloneCopy, undiciAlone } from '../../peers/sending.ts'
import { digits, megabytes } from '../../table/units.ts'
import { type PictureSet, pictureSetIn } from '../../trees/picture-set.ts'

interface Contestant {
  name: string
  send(sink: { baseUrl: string; s3: string }): Promise<TimedRun>
}

/** All pictures of a set to the same server, as fast as it goes. albumd needs two requests a picture, hashes it
 * (SHA-256), and writes down what it is about to do. undici alone needs as many, hashes, and writes nothing down. rclone
 * needs one, and hashes too (MD5); curl needs one, no more. */
export async function throughput(means: Means, set: PictureSet, rounds: number): Promise<void> {
  const { cache, has, say, scratch } = means
  mkdirSync(join(cache, 'pictures'), { recursive: true })
  const folder = pictureSetIn(join(cache, 'pictures'), set, () => say(`makes pictures (once): ${set.name}`))
  say(`sends ${set.count} pictures: ${set.name}`)
  const home = join(scratch, 'upload')
  const contestants: Contestant[] = [
    {
      name: 'albumd',
      async send({ baseUrl }) {
        rmSync(home, { recursive: true, force: true })
        return openWorkspace({ home, baseUrl, folder }).albumd(['sync'])
      },
    },
    { name: 'undici alone', send: ({ baseUrl }) => undiciAlone(folder, baseUrl) },
  ]
  if (has('curl', 'curl -Z'))
    contestants.push({ name: 'curl -Z', send: ({ s3 }) => curl(folder, s3, join(scratch, 'curl.list')) })
  if (has('rclone', 'rclone copy to S3'))
    contestants.push({ name: 'rclone copy to S3', send: ({ s3 }) => rcloneCopy(folder, s3) })
  const runs = await inRounds(
    rounds,
    Object.fromEntries(contestants.map(each => [each.name, () => toNewSink(each, set)])),
  )
  for (const { name } of contestants.slice(1)) report(means, set, runs.albumd!, name, runs[name]!)
}

/** A new server each time: albumd would find there what it sent before. */
async function toNewSink({ name, send }: Contestant, set: PictureSet): Promise<TimedRun> {
  const sink = await startSink()
  try {
    const run = await send({ baseUrl: sink.listening.baseUrl, s3: sink.s3 })
    const { pictures } = await sink.seen()
    if (pictures !== set.count)
      throw new Error(`${name} sent ${pictures} of ${set.count} pictures:\n${run.said}`)
    return run
  } finally {
    await sink.stop()
  }
}

const AIMS: Readonly<Record<string, { rate: number; cpu: number }>> = {
  'undici alone': { rate: 0.85, cpu: 1.1 },
  'rclone copy to S3': { rate: 0.9, cpu: 1 },
}

function report(means: Means, set: PictureSet, ours: TimedRun[], name: string, theirs: TimedRun[]): void {
  const words = `${set.count.toLocaleString('en-US')} pictures, ${set.name}`
  const perSecond = (runs: TimedRun[]) => runs.map(run => set.count / run.seconds)
  const cpu = (runs: TimedRun[]) => runs.map(run => (run.cpuSeconds * 1000) / set.count)
  const peak = (runs: TimedRun[]) => Math.max(...runs.map(run => run.peakMb))
  const aim = set.count > 100 ? AIMS[name] : undefined
  const speed = ratioOf(perSecond(ours), perSecond(theirs))
  const effort = ratioOf(cpu(ours), cpu(theirs))
  means.add({
    figure: `pictures a second, ${words}`,
    ours: `${digits(median(perSecond(ours)))}/s, ${megabytes(peak(ours))}`,
    theirs: `${name} ${digits(median(perSecond(theirs)))}/s, ${megabytes(peak(theirs))}`,
    ratio: speed,
    spread: spreadOf(perSecond(ours), perSecond(theirs)),
    aim: aim ? `≥ ${aim.rate}` : '',
    met: aim ? speed >= aim.rate : null,
  })
  means.add({
    figure: `CPU seconds per 1,000, ${words}`,
    ours: digits(median(cpu(ours))),
    theirs: `${name} ${digits(median(cpu(theirs)))}`,
    ratio: effort,
    spread: spreadOf(cpu(ours), cpu(theirs)),
    aim: aim ? `≤ ${aim.cpu}` : '',
    met: aim ? effort <= aim.cpu : null,
  })
}
