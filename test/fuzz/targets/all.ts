import { connections, hostAnswers, listings } from './host.ts'
import { pictures } from './pictures.ts'
import { strippedPictures } from './stripped.ts'
import type { Target } from './target.ts'
import { configs, names, rules } from './texts.ts'

export const TARGETS: Readonly<Record<string, Target>> = {
  pictures,
  'stripped-pictures': strippedPictures,
  'host-answers': hostAnswers,
  connections,
  listings,
  configs,
  rules,
  names,
}
