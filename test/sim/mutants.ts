import { CHECKING } from './mutants/checking.ts'
import { DELETIONS } from './mutants/deletions.ts'
import { DOUBT } from './mutants/doubt.ts'
import { GROUND } from './mutants/ground.ts'
import type { Mutant } from './mutants/mutant.ts'
import { PACING } from './mutants/pacing.ts'
import { RULES } from './mutants/rules.ts'
import { SECRETS } from './mutants/secrets.ts'
import { SETTLING } from './mutants/settling.ts'

export const MUTANTS: readonly Mutant[] = [
  ...GROUND,
  ...DELETIONS,
  ...DOUBT,
  ...SETTLING,
  ...PACING,
  ...CHECKING,
  ...RULES,
  ...SECRETS,
]
