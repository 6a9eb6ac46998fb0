/** A part of a manual: a heading with what stands below it. `text` is Markdown: paragraphs, lists with dashes, code. */
export interface ManualPart {
  heading: string
  /** Whether the heading stands below the heading before it. */
  isBelow?: boolean
  text?: string
  /** Terms with what is said of them. */
  terms?: readonly (readonly [term: string, says: string])[]
}

/** A manual in the macros of man(7). No date, so that the same sources make the same manual. */
export function manual(name: string, section: number, version: string, parts: readonly ManualPart[]): string {
  const lines = [
    '.\\" Written by "npm run docs" from the code.',
    `.TH ${name.toUpperCase().replaceAll('-', '\\-')} ${section} "" "albumd ${version}" albumd`,
    ...parts.flatMap(({ heading, isBelow, text, terms = [] }) => [
      `.${isBelow ? 'SS' : 'SH'} ${quoted(heading)}`,
      ...(text === undefined ? [] : blocks(text)),
      ...terms.flatMap(([term, says]) => ['.TP', `\\fB${plain(term)}\\fR`, inline(says)]),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

/** A heading of a Markdown page and what is below it. The page's title is left out. */
export function partsOf(markdown: string): ManualPart[] {
  const [, ...sections] = markdown.split(/^## /m)
  return sections.map(section => {
    const end = section.indexOf('\n')
    return { heading: section.slice(0, end), isBelow: true, text: section.slice(end).trim() }
  })
}

function blocks(text: string): string[] {
  return text.split(/\n{2,}(?! )/).flatMap((block, at) => {
    const code = /^```\w*\n([\s\S]*?)\n```$/.exec(block)?.[1]
    if (code !== undefined) return ['.PP', '.RS 4', '.nf', ...code.split('\n').map(plain), '.fi', '.RE']
    if (block.startsWith('- '))
      return block
        .split(/^- /m)
        .slice(1)
        .flatMap(item => ['.IP \\(bu 2', inline(item)])
    return [...(at === 0 ? [] : ['.PP']), inline(block)]
  })
}

/** A paragraph on one line: names of commands and keys are bold, and a link is its words. */
function inline(text: string): string {
  const words = text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
  return words
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .map((part, at) => (at % 2 === 0 ? part : `\u0001${part.replace(/^[`*]+|[`*]+$/g, '')}\u0002`))
    .map(plain)
    .join('')
    .replaceAll('\u0001', '\\fB')
    .replaceAll('\u0002', '\\fR')
}

/** The text with what roff reads otherwise escaped: backslashes, dashes, and what a macro begins with. */
function plain(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&')
}

function quoted(text: string): string {
  return `"${plain(text).replaceAll('"', '\\(dq')}"`
}
