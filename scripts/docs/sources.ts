import { readFileSync } from 'node:fs'

/** The source of an exported type, with its comments as plain ones. It ends before the next blank line that no indented line follows. */
export function declaration(name: string, file: string): string {
  const comment = '(?:^/\\*\\*(?:(?!\\*/)[^])*\\*/\\n)?'
  const declared = new RegExp(
    `${comment}^export (?:interface|type) ${name}\\b[^]*?(?=\\n\\n\\S|\\n*$(?![^]))`,
    'm',
  )
  const found = declared.exec(source(file))?.[0]
  if (found === undefined) throw new Error(`${file} declares no type ${name}`)
  return found
    .replace(/^export /m, '')
    .replace(/\/\*\* ([\s\S]*?) \*\//g, (_, words: string) => `// ${words.replace(/^( *) \* /gm, '$1// ')}`)
}

/** The text of a file of the checkout. */
export function source(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
}
