import { TOOLS, type Tools } from './tools.ts'

/** What is left out for want of a tool. */
export class LeftOut {
  readonly #tools: Tools
  /** By the tool, then by the part of the bench. */
  readonly #wanted = new Map<string, Map<string, Set<string>>>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  /** Whether a tool is there. Where it is not, `what` of a part is left out. */
  has(tool: string, part: string, what: string): boolean {
    if (this.#tools.has(tool)) return true
    const parts = this.#wanted.get(tool) ?? new Map<string, Set<string>>()
    this.#wanted.set(tool, parts.set(part, (parts.get(part) ?? new Set()).add(what)))
    return false
  }

  /** One for each tool that was wanted. */
  lines(): string[] {
    return TOOLS.filter(({ name }) => this.#wanted.has(name)).map(tool => {
      const parts = [...this.#wanted.get(tool.name)!].map(([part, all]) => `${part} (${[...all].join(', ')})`)
      return `left out: ${tool.name} is missing (Debian: apt-get install ${tool.package}): ${parts.join(', ')}`
    })
  }
}
