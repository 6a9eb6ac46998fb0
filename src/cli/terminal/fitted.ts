import { stripVTControlCharacters } from 'node:util'

/** A space at which a line may break: not inside of a command between quotation marks. */
const BREAK = / (?=(?:[^"]*"[^"]*")*[^"]*$)/
/** The command that ends a line. */
const COMMAND = /(?<=: )(?:npx )?albumd [a-z-]+(?: .*)?$/
/** Labels, or the room that they leave. What does not fit comes below the text behind them. */
const LABELS = /^(?: {2}\S{1,8} +| {4,}|(?:\S{1,8} {2,})+)/

/** The text as a terminal of so many columns shows it, each line in lines between words. 0 or undefined: no terminal, nothing breaks. */
export function fitted(text: string, columns: number | undefined): string {
  if (!columns) return text
  const lines = text.split('\n').flatMap(line => {
    const indent = LABELS.exec(stripVTControlCharacters(line))?.[0].length ?? 2
    return wrapped(line, columns, ' '.repeat(indent))
  })
  return lines.join('\n')
}

/** The text in lines between words. A word that is longer than the width is left whole, so that people can copy it, and so is a
 * command. `indent`: begins each line but the first. */
export function wrapped(text: string, width = Number.POSITIVE_INFINITY, indent = ''): string[] {
  if (widthOf(text) <= width) return [text]
  const [command = null] = COMMAND.exec(text) ?? []
  const said = command === null ? text : text.slice(0, -command.length - 1)
  const [first = '', ...words] = [...said.split(BREAK), ...(command === null ? [] : [command])]
  const lines = [first]
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (widthOf(longer) <= width || longer.trim() === word) lines.splice(-1, 1, longer)
    // Two spaces in a row have an empty word between them.
    else if (word !== '') lines.push(indent + word)
  }
  return lines.map(line => line.trimEnd())
}

/** What most terminals show in two columns. string-width is exact, but loading it takes longer than a short command. */
const WIDE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/gu

function widthOf(text: string): number {
  return stripVTControlCharacters(text).replace(/\p{M}/gu, '').replace(WIDE, '  ').length
}
