import { STEP_1 } from './schema/step-1.ts'
import { STEP_2 } from './schema/step-2.ts'
import { STEP_3 } from './schema/step-3.ts'
import { STEP_4 } from './schema/step-4.ts'
import { STEP_5 } from './schema/step-5.ts'
import { STEP_6 } from './schema/step-6.ts'
import { STEP_7 } from './schema/step-7.ts'
import { STEP_8 } from './schema/step-8.ts'

/**
 * What albumd and the host last agreed on, and what is on its way.
 * Built for a million files: `files` has no rowid, and its indexes hold only what is open.
 *
 * Times are milliseconds since 1970, those of files microseconds. Running time is milliseconds that albumd ran and
 * looked: a clock that jumps counts for nothing. Hashes are SHA-256 of a picture's bytes.
 * A folder's `path` is below its mirror's root, with slashes; '' is the root.
 *
 * Each step makes its version out of the one before. Whatever changes is a further step: those that are there have
 * been taken already.
 */
export const STEPS = [STEP_1, STEP_2, STEP_3, STEP_4, STEP_5, STEP_6, STEP_7, STEP_8]
