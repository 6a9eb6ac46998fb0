import { median, ratioOf, spreadOf } from '../measure/statistics.ts'
import { type TimedRun, timesOf } from '../measure/timed-run.ts'
import type { Means } from '../part.ts'
import { megabytes, seconds } from './units.ts'

export interface Aim {
  /** Of our time by theirs, or of our time. */
  most: number
  of?: 'seconds'
  words: string
}

/** Adds a line for each of the others: the time, the processor time and the most memory that the same took. */
export function compareRuns(
  means: Pick<Means, 'add'>,
  figure: string,
  runs: Readonly<Record<string, readonly TimedRun[]>>,
  aims: Readonly<Record<string, Aim>> = {},
): void {
  const { albumd, ...others } = runs
  for (const [name, theirs] of Object.entries(others)) {
    const ratio = ratioOf(timesOf(albumd!), timesOf(theirs))
    const aim = aims[name]
    const measured = aim?.of === 'seconds' ? median(timesOf(albumd!)) : ratio
    means.add({
      figure,
      ours: inWords(albumd!),
      theirs: `${name} ${inWords(theirs)}`,
      ratio,
      spread: spreadOf(timesOf(albumd!), timesOf(theirs)),
      aim: aim?.words ?? '',
      met: aim ? measured <= aim.most : null,
    })
  }
}

function inWords(runs: readonly TimedRun[]): string {
  const peak = Math.max(...runs.map(run => run.peakMb))
  const cpu = median(runs.map(run => run.cpuSeconds))
  return `${seconds(median(timesOf(runs)))}, CPU ${seconds(cpu)}, ${megabytes(peak)}`
}
