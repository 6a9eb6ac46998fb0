import ignore from 'ignore'
import { OPTIONS, writtenPatterns } from './ignore-rules.ts'
import type { IgnoreRules } from './look.ts'

/** A rule as it is written. */
export interface HidingRule {
  /** Which text of the chain it is in, from 0. */
  link: number
  base: string
  /** From 1. */
  line: number
  pattern: string
}

/** The rule that hides this, or null: the last one of the chain that names it. `path`: below the root. */
export function hidingRule(
  chain: readonly IgnoreRules[],
  path: string,
  kind: 'file' | 'folder',
): HidingRule | null {
  const all = chain.flatMap((rules, link) =>
    writtenPatterns(rules).map(written => ({ ...written, link, base: rules.base })),
  )
  const asked = ignore(OPTIONS).add(all.map(({ pattern }, at) => ({ pattern, mark: String(at) })))
  const { rule } = asked.test(kind === 'folder' ? `${path}/` : path)
  const found = rule?.mark === undefined ? undefined : all[Number(rule.mark)]
  return found ? { link: found.link, base: found.base, line: found.line, pattern: found.written } : null
}
