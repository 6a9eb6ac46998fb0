import type { Note, RestoreEvent } from '../../daemon/restore/restore.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { count, printable, sizeInWords } from '../words/wording.ts'

/** Shows the progress of a restore to a person or a program. */
export interface RestoreProgress {
  tell(event: RestoreEvent): void
  say(line: string): void
  end(): void
}

/** A bar on a terminal, lines elsewhere. The code that draws the bar is loaded only on a terminal. */
export async function restoreProgress(out: NodeJS.WriteStream): Promise<RestoreProgress> {
  if (!out.isTTY) return restoreLines(out)
  const { transferBar } = await import('./transfer-bar.ts')
  const { start, advance, say, end } = transferBar(out)
  return {
    tell(event) {
      const line = inWords(event)
      if (event.event === 'restore_started') start(event.pictures, null)
      else advance('size' in event && !event.there ? event.size : 0)
      if (line !== null && 'code' in event) say(line)
    },
    say,
    end,
  }
}

function restoreLines(out: NodeJS.WritableStream): RestoreProgress {
  const say = (line: string) => void out.write(`${line}\n`)
  return {
    tell(event) {
      const line = inWords(event)
      if (line !== null) say(line)
    },
    say,
    end() {},
  }
}

/** Writes one JSON object. Its `problems` are written as they come, because they may be very many. */
export function restoreJson(out: NodeJS.WritableStream): RestoreProgress & { summary(rest: object): void } {
  let before = '{"problems":['
  return {
    tell(event) {
      if (!('code' in event)) return
      const { event: _, ...problem } = event
      out.write(`${before}\n${JSON.stringify(problem)}`)
      before = ','
    },
    say() {},
    end() {},
    summary(rest) {
      const opening = before === ',' ? '' : before
      out.write(`${opening}],${JSON.stringify(rest).slice(1)}\n`)
    },
  }
}

/** The line for an event; null for events that need no action and may be very many. */
function inWords(event: RestoreEvent): string | null {
  switch (event.event) {
    case 'restore_started':
      return `${count(event.pictures, 'picture')} on the host${event.bytes === null ? '' : ` (${sizeInWords(event.bytes)})`}`
    case 'picture_restored': {
      const { there, path, size, note } = event
      if (there && note !== 'unproved') return null
      const noted = note === null ? '' : `; ${NOTES[note]}`
      return `${there ? 'there' : 'restored'} ${printable(path)} (${sizeInWords(size)}${noted})`
    }
    case 'picture_missing': {
      const { mirror, path, message, code } = event
      const where = mirror === undefined ? path : fullPath(mirror, path)
      return `missing ${printable(where)}: ${printable(message)} (${code})`
    }
  }
}

const NOTES: Record<Note, string> = {
  older: 'an older version',
  proved: 'its bytes are proved',
  unproved: 'only size and dimensions are compared',
}
