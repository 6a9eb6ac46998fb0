import { extname } from 'node:path'
import { realDisk } from '../../local/disk.ts'
import type { LeftOut } from '../../local/look.ts'
import { HOST_TAKES, leftOutBelow, type MirrorLocation } from '../../sync/scan/index.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { because, inWords } from '../../words/reasons.ts'
import { countLeftOut, inDigits, printable } from '../../words/text.ts'
import { SCHEMA } from './output.ts'

const KINDS_NAMED = 12

/** What is left out and what can't be read. Ignore files are not among it, because nobody expects them on the host. */
function* leftOutAt(places: readonly MirrorLocation[]) {
  for (const { mirror, path: below } of places)
    for (const left of leftOutBelow(realDisk, { mirror, path: below })) {
      const at = { mirror: mirror.folder, path: fullPath(mirror.folder, left.at) }
      if (left.kind === 'unread' || left.why !== 'ignore_file') yield { ...left, ...at }
    }
}

type FoundAt = ReturnType<typeof leftOutAt> extends Generator<infer Found> ? Found : never
type LeftOutAt = Extract<FoundAt, { kind: 'left_out' }>

class Counted {
  #all = 0
  readonly #kinds = new Map<string, number>()

  add({ why, path }: LeftOutAt): void {
    this.count(why === 'format' ? extname(path).slice(1).toUpperCase() || 'without an extension' : why, 1)
  }

  count(kind: string, n: number): void {
    this.#all += n
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + n)
  }

  inWords(): string {
    const sorted = [...this.#kinds].sort(([, one], [, other]) => other - one)
    // Where "…" would stand for one kind alone, that kind is named.
    const all = sorted.length <= KINDS_NAMED + 1
    const named = (all ? sorted : sorted.slice(0, KINDS_NAMED)).map(([kind, n]) =>
      countLeftOut(printable(kind), n),
    )
    return `${inDigits(this.#all)} (${named.join(', ')}${all ? '' : ', …'})`
  }

  get hasHeic(): boolean {
    return this.#kinds.has('HEIC') || this.#kinds.has('HEIF')
  }

  get any(): boolean {
    return this.#all > 0
  }
}

/** What is left out, in a few lines. No lines when nothing is. `scanned`: what a scan of these places has just counted. Only the
 * extensions of other formats are not among it, so only for these the disk is walked again. `command`: lists all of it. */
export function leftOutInWords(
  places: readonly MirrorLocation[],
  scanned: readonly LeftOut[] | null,
  command = 'albumd ls --left-out',
): string[] {
  const counted = new Counted()
  if (scanned?.every(({ format }) => format === 0)) {
    for (const [why, n] of scanned.flatMap(counts => Object.entries(counts))) if (n > 0) counted.count(why, n)
  } else for (const left of leftOutAt(places)) if (left.kind === 'left_out') counted.add(left)
  return counted.any ? [`Left out: ${counted.inWords()}. "${command}" says why`] : []
}

/** The lines of `ls --left-out`. */
export function* leftOutLines(places: readonly MirrorLocation[], isJson: boolean): Generator<string> {
  if (isJson) return yield* linesInJson(places)
  const counted = new Counted()
  let known = ''
  for (const left of leftOutAt(places)) {
    if (left.kind === 'left_out') counted.add(left)
    const isFormat = left.kind === 'left_out' && left.why === 'format'
    // The formats that the host takes are said once, at the end.
    if (isFormat) known = `; the host takes ${HOST_TAKES.join(', ')}`
    const reason = isFormat
      ? because('other_format', { extension: extname(left.path), known: [] })
      : left.reason
    yield `${printable(left.path)}: ${printable(inWords(reason))}\n`
  }
  if (counted.hasHeic)
    yield 'HEIC is sent as JPEG with "uploads: {convert: [heic]}" in the config, after "npm install --global libheif-js"\n'
  if (counted.any) yield `left out: ${counted.inWords()}${known}\n`
}

function* linesInJson(places: readonly MirrorLocation[]): Generator<string> {
  let before = `{"schema":${SCHEMA},"left_out":[`
  const unread: object[] = []
  for (const found of leftOutAt(places)) {
    const { kind, mirror, path } = found
    const reason = inWords(found.reason)
    if (kind === 'unread') {
      unread.push({ mirror, path, reason })
      continue
    }
    yield `${before}\n${JSON.stringify({ mirror, path, why: found.why, reason })}`
    before = ','
  }
  yield `${before === ',' ? '\n' : before}],"unread":${JSON.stringify(unread)}}\n`
}
