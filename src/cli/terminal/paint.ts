import { styleText } from 'node:util'

/** Colours for standard output: none where it is no terminal, or $NO_COLOR is set. */
export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stdout })
}
