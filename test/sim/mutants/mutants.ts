import { ALTERED } from './altering.ts'
import { CHECKING } from './checking.ts'
import { CLAIMS } from './claims.ts'
import { DELETIONS } from './deletions.ts'
import { DOUBT } from './doubt.ts'
import type { Mutant, Row } from './mutant.ts'
import { PACING } from './pacing.ts'
import { PAST } from './past.ts'
import { RATES } from './rates.ts'
import { REHEARSING } from './rehearsing.ts'
import { ROOTS } from './roots.ts'
import { RULES } from './rules.ts'
import { SECRETS } from './secrets.ts'
import { SETTLING } from './settling.ts'
import { STRIPPING } from './stripping.ts'

const ROWS: readonly Row[] = [
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
  ...PAST,
  ...ALTERED,
  ...STRIPPING,
]

export const MUTANTS: readonly Mutant[] = ROWS.map(([seed, name, why, instead]) => ({
  seed,
  name,
  why,
  instead,
}))
