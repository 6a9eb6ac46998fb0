import { median, percentile } from '../measure/statistics.ts'
import type { Means, Part } from '../part.ts'
import { seconds } from '../table/units.ts'
import { oursLatencies } from './latency/ours.ts'
import { theirLatencies } from './latency/theirs.ts'

export const latency: Part = {
  name: 'latency',
  about: 'how soon a picture that was just closed is on its way, and there',
  async measure(means) {
    const { short, say } = means
    const pictures = short ? 30 : 300
    say(`${pictures} pictures, one after the other`)
    // The host's limits hold, as they do in earnest. What is deleted is not measured: it is 300 pictures, at two a second.
    const requestsPerSecond = { delete: Number.POSITIVE_INFINITY }
    const synced = await means.trees.open('one-top', { limited: true, choices: { requestsPerSecond } })
    try {
      const ours = await oursLatencies(synced, pictures)
      say(`${pictures} pictures for the peers`)
      const theirs = await theirLatencies(means, pictures)
      report(means, 'upload request', ours.asked, {}, AIMS_MS)
      report(means, 'upload request, written in 4 pieces 30 ms apart', ours.askedInPieces, {}, AIMS_MS)
      report(means, 'image delivered', ours.delivered, theirs, null)
      means.add({
        figure: `halves sent, and requests beyond two a picture; every third of ${pictures} written in pieces`,
        ours: `${ours.halves}, ${ours.superfluous}`,
        theirs: '',
        ratio: null,
        aim: '0, 0',
        met: ours.halves === 0 && ours.superfluous === 0,
      })
    } finally {
      await synced.close()
    }
  },
}

/** The aims for p50 and p99 of the time until the request. */
const AIMS_MS = [60, 150] as const

/** What of all pictures makes a line: an aim for each, in this order. */
const TAKEN = [
  { name: 'p50', of: median },
  { name: 'p99', of: (values: readonly number[]) => percentile(values, 99) },
]

function report(
  means: Means,
  what: string,
  ours: readonly number[],
  theirs: Readonly<Record<string, readonly number[]>>,
  aims: readonly [number, number] | null,
): void {
  for (const [at, taken] of TAKEN.entries()) {
    const value = taken.of(ours)
    const figure = `close → ${what}, ${taken.name} of ${ours.length}`
    const aim = aims?.[at]
    const line = { figure, ours: seconds(value / 1000) }
    if (aim !== undefined)
      means.add({ ...line, theirs: '', ratio: null, aim: `≤ ${aim} ms`, met: value <= aim })
    for (const [name, latencies] of Object.entries(theirs)) {
      const other = taken.of(latencies)
      const said = `${name} ${seconds(other / 1000)} (${latencies.length} pictures)`
      means.add({ ...line, theirs: said, ratio: value / other, aim: '', met: null })
    }
  }
}
