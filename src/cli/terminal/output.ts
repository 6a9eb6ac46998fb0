import { styleText } from 'node:util'
import { printable } from '../../words/text.ts'
import { fitted } from './fitted.ts'

/** The bytes of one write, so that a million lines need few writes. */
const BATCH = 64 * 1024

/** Writes pieces of text, and waits for a slow reader. Ends early when the reader is gone (`| head`). Returns whether the reader
 * is still there. */
export async function writeOut(out: NodeJS.WritableStream, pieces: Iterable<string>): Promise<boolean> {
  let batch = ''
  for (const piece of pieces) {
    batch += piece
    if (batch.length < BATCH) continue
    if (!(await written(out, batch))) return false
    batch = ''
  }
  return batch === '' || written(out, batch)
}

function written(out: NodeJS.WritableStream, text: string): Promise<boolean> {
  return new Promise(resolve => out.write(text, error => resolve(!error)))
}

/** Colours text for standard output. When standard output is no terminal or $NO_COLOR is set, adds no colours. */
export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** The name to call albumd by. When npm has started albumd, a shell may not find albumd by its own name. */
export const PROGRAM = ['start', 'npx'].includes(process.env.npm_lifecycle_event ?? '')
  ? 'npx albumd'
  : 'albumd'

/** Text for a person on standard output. */
export function print(text: string): void {
  process.stdout.write(fitted(text, process.stdout.columns))
}

export function printLine(line: string): void {
  print(`${line}\n`)
}

export const SCHEMA = 1

export function printJson(object: object): void {
  process.stdout.write(`${JSON.stringify({ schema: SCHEMA, ...object })}\n`)
}

export function sayAside(line: string): void {
  process.stderr.write(`${fitted(`albumd: ${printable(line)}`, process.stderr.columns)}\n`)
}
