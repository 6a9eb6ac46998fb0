import { allPages, type Page } from './pages.ts'

/** The reference names usages in its text, and has examples in its code. */
const REFERENCE = 'docs/reference/commands.md'

/** The pages that have people type commands of albumd. */
export function pagesWithCommands(): (Page & { commands: string[] })[] {
  return allPages()
    .map(page => ({ ...page, commands: commandsOf(page) }))
    .filter(({ commands }) => commands.length > 0)
}

/** What a page has people type of albumd, without `sudo`, in the page's order, each once. */
function commandsOf({ path, text }: Page): string[] {
  const fences = /^ *```(\w*)\n([\s\S]*?)^ *```$/gm
  const lines: string[] = []
  let end = 0
  const takeProse = (until: number) => {
    const part = text.slice(end, until)
    if (path !== REFERENCE)
      lines.push(...[...part.matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replace(/\s+/g, ' ')))
  }
  for (const fence of text.matchAll(fences)) {
    takeProse(fence.index)
    end = fence.index + fence[0].length
    if (fence[1] === 'sh') lines.push(...fence[2]!.split('\n').map(line => line.replace(/\s+#.*$/, '')))
  }
  takeProse(text.length)
  const commands = lines
    .flatMap(line => line.split(' && '))
    .map(
      line =>
        /^(?:ALBUMD_API_KEY=\S+ |sudo (?:-u albumd )?|source <\()?(albumd [^)]+)/.exec(line.trim())?.[1],
    )
  return [...new Set(commands.filter(command => command !== undefined))]
}
