import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Line, plot } from '../growth/plot.ts'
import { inRounds } from '../measure/rounds.ts'
import { median, ratioOf } from '../measure/statistics.ts'
import { type TimedRun, timesOf } from '../measure/timed-run.ts'
import type { Means, Part } from '../part.ts'
import { find } from '../peers/listings.ts'
import { digits, megabytes, seconds } from '../table/units.ts'
import { TREES, type TreeName } from '../trees/shape.ts'

/** The whole form draws bench/growth.svg. */
export const growth: Part = {
  name: 'growth',
  about: 'how time and memory grow with the tree',
  async measure(means) {
    const names: TreeName[] = means.short ? ['1k', '10k', '100k'] : ['1k', '10k', '100k', '1M']
    const measured: Measured[] = []
    for (const name of names) measured.push(await measureTree(means, name))
    report(means, measured)
    if (means.short) return
    writeFileSync(join(import.meta.dirname, '../growth.svg'), drawn(measured))
    means.say('bench/growth.svg is drawn anew')
  },
}

interface Measured {
  files: number
  albumd: Point
  find: Point | null
  /** Of their times. */
  ratio: number | null
}

interface Point {
  seconds: number
  peakMb: number
}

async function measureTree(means: Means, name: TreeName): Promise<Measured> {
  const runs = means.nothingChanged.get(name) ?? (await runsOn(means, name))
  return {
    files: TREES[name].files,
    albumd: pointOf(runs.albumd!),
    find: runs.find ? pointOf(runs.find) : null,
    ratio: runs.find ? ratioOf(timesOf(runs.albumd!), timesOf(runs.find)) : null,
  }
}

async function runsOn({ trees, has, say }: Means, name: TreeName): Promise<Record<string, TimedRun[]>> {
  say(`nothing changed, ${name}`)
  const { tree, workspace, close } = await trees.open(name)
  try {
    return await inRounds<string, TimedRun>(name === '1M' ? 2 : 5, {
      albumd: () => workspace.albumd(['sync']),
      ...(has('find', 'find') && { find: () => find(tree) }),
    })
  } finally {
    await close()
  }
}

function pointOf(runs: readonly TimedRun[]): Point {
  return {
    seconds: median(timesOf(runs)),
    peakMb: Math.max(...runs.map(run => run.peakMb)),
  }
}

function report(means: Means, measured: readonly Measured[]): void {
  for (const { files, albumd, find, ratio } of measured)
    means.add({
      figure: `sync, nothing changed, ${files.toLocaleString('en-US')} files`,
      ours: `${seconds(albumd.seconds)}, ${megabytes(albumd.peakMb)}`,
      theirs: find ? `find ${seconds(find.seconds)}, ${megabytes(find.peakMb)}` : '',
      ratio,
      aim: '',
      met: null,
    })
  const [before, last] = measured.slice(-2) as [Measured, Measured]
  const inWords = (slope: Point) => `${seconds(slope.seconds)}, ${megabytes(slope.peakMb)}`
  const range = `${before.files.toLocaleString('en-US')} to ${last.files.toLocaleString('en-US')}`
  means.add({
    figure: `slope: what 100,000 more files add, from ${range}`,
    ours: inWords(slopeOf(measured, ({ albumd }) => albumd)),
    theirs: last.find ? `find ${inWords(slopeOf(measured, ({ find }) => find!))}` : '',
    ratio: null,
    aim: '',
    met: null,
  })
}

/** What 100,000 more files add between the two largest trees. */
function slopeOf(measured: readonly Measured[], pointOf: (tree: Measured) => Point): Point {
  const [before, last] = measured.slice(-2) as [Measured, Measured]
  const grown = (last.files - before.files) / 100_000
  const from = pointOf(before)
  const to = pointOf(last)
  return { seconds: (to.seconds - from.seconds) / grown, peakMb: (to.peakMb - from.peakMb) / grown }
}

function drawn(measured: readonly Measured[]): string {
  const lines = (of: (point: Point) => number): Line[] => [
    {
      name: 'albumd sync',
      colour: '#0b6',
      points: measured.map(({ files, albumd }) => ({ x: files, y: of(albumd) })),
    },
    {
      name: 'find',
      colour: '#999',
      points: measured.flatMap(({ files, find }) => (find ? { x: files, y: of(find) } : [])),
    },
  ]
  const slope = slopeOf(measured, ({ albumd }) => albumd)
  return plot('files', [
    {
      title: `nothing changed: time (100,000 more files: ${seconds(slope.seconds)})`,
      lines: lines(point => point.seconds),
      written: y => `${digits(y)} s`,
    },
    {
      title: `nothing changed: peak memory (100,000 more files: ${megabytes(slope.peakMb)})`,
      lines: lines(point => point.peakMb),
      written: y => `${digits(y)} MB`,
    },
  ])
}
