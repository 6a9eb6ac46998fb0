/** Quotes a word for a shell where needed, so that people can copy commands: `it's` becomes `'it'\''s'`. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
