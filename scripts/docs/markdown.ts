const MADE = '<!-- Written by "npm run docs" from the code. -->'

export function page(title: string, ...parts: string[]): string {
  return `${[MADE, `# ${title}`, ...parts].join('\n\n')}\n`
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

export const code = (text: string) => `\`${text}\``
