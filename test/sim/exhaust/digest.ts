import { createHash } from 'node:crypto'
import type { World } from '../engine/world.ts'
import { LIFETIME_MS } from '../histories/variations.ts'
import { pathOfAlbum } from '../host/host-truth.ts'

/** What only tells of the past, and decides nothing. */
const PAST_TABLES: ReadonlySet<string> = new Set([
  'history',
  'versions',
  'deletions',
  'deleted',
  'sqlite_sequence',
])
const PAST_KEYS: ReadonlySet<unknown> = new Set([
  'running_ms',
  'pruned_at',
  'upload_rate',
  'wall_clock',
  'boot',
])
/** Numbers of rows that no other table holds, and times of the grace, of which there is none here. */
const LEFT_OUT: ReadonlySet<string> = new Set(['journal id', 'escrow due_at'])
const TIMES: ReadonlySet<string> = new Set(
  'since at said_at sent_at recorded_at made_at next_attempt_at resumes_at exhausted'.split(' '),
)
/** From here on a number is a time by the wall clock, in milliseconds; below, by the machine's other clock. */
const WALL_FROM = 1e12

/** All that an albumd that starts now can know or meet: its records, the host, and what is under way to the host. Two worlds
 * with one digest go on alike. Times count by what they are compared with: a minute, the life of a credential, an hour, a day. */
export function digestOf(world: World, underWay: readonly [what: string, ms: number][]): string {
  const names = namesOf(world)
  const named = (text: string) => text.replaceAll(/\b[0-9a-f]{32}\b/g, id => names.get(id) ?? 'promised')
  const ages = agesOf(world)
  const rows = [...world.state.save()].flatMap(([table, rows]) =>
    PAST_TABLES.has(table)
      ? []
      : rows
          .filter(({ key }) => !PAST_KEYS.has(key))
          .map(row => named(`${table} ${JSON.stringify(canonical(table, row, ages))}`)),
  )
  const images = [...world.truth.images.values()].map(
    ({ id, gone, deletionAsked, at }) => `${names.get(id)} ${gone !== null} ${deletionAsked} ${ages(at)}`,
  )
  const albums = world.truth.liveAlbums().map(pathOfAlbum)
  const coming = underWay.map(([what, ms]) => named(`${what} ${inSpan(ms)}`))
  const all = [rows, images, albums, coming].map(lines => lines.sort().join('\n'))
  return createHash('sha1').update(all.join('\n\n')).digest('base64')
}

function canonical(
  table: string,
  row: Readonly<Record<string, unknown>>,
  ages: (at: number) => string,
): unknown {
  return Object.entries(row).flatMap(([column, value]) => {
    if (LEFT_OUT.has(`${table} ${column}`)) return []
    if (TIMES.has(column) && typeof value === 'number') return [ages(value)]
    return [value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value]
  })
}

/** By id, what an image or an album is: ids are drawn, and differ with the order. */
function namesOf({ truth }: World): Map<string, string> {
  const names = new Map<string, string>()
  const taken = new Map<string, number>()
  for (const { id, source, hash } of truth.images.values()) {
    const name = `image of ${source} ${hash.slice(0, 8)}`
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    names.set(id, `${name} ${count}`)
  }
  for (const album of truth.liveAlbums()) names.set(album.id, `album ${pathOfAlbum(album)}`)
  return names
}

function agesOf({ machine, time }: World): (at: number) => string {
  return at => inSpan(at >= WALL_FROM ? time.now - at : machine.monotonic() - at)
}

const SPANS = [0, 60_000, LIFETIME_MS, 3_600_000, 86_400_000]

function inSpan(ms: number): string {
  return `${ms < 0 ? '-' : ''}${SPANS.filter(span => Math.abs(ms) > span).length}`
}
