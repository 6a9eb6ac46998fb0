import { CHECKING } from './checking.ts'
import { CLAIMS } from './claims.ts'
import { DELETIONS } from './deletions.ts'
import { DOUBT } from './doubt.ts'
import type { Mutant } from './mutant.ts'
import { PACING } from './pacing.ts'
import { RATES } from './rates.ts'
import { REHEARSING } from './rehearsing.ts'
import { ROOTS } from './roots.ts'
import { RULES } from './rules.ts'
import { SECRETS } from './secrets.ts'
import { SETTLING } from './settling.ts'

export const MUTANTS: readonly Mutant[] = [
  ...ROOTS,
  ...DELETIONS,
  ...DOUBT,
  ...SETTLING,
  ...PACING,
  ...CHECKING,
  ...RULES,
  ...SECRETS,
  ...CLAIMS,
  ...RATES,
  ...REHEARSING,
]
