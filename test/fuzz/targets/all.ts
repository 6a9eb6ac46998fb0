import { connections, hostAnswers, listings } from './host.ts'
import { pictures } from './pictures.ts'
import type { Target } from './target.ts'
import { configs, names, rules } from './texts.ts'

export const TARGETS: Readonly<Record<string, Target>> = {
  pictures,
  'host-answers': hostAnswers,
  connections,
  listings,
  configs,
  rules,
  names,
}
