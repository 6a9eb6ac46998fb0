import type { Action, Deed } from './history.ts'
import type { Random } from './random.ts'

/** Deeds that show something only one after the other. */
export interface Scene {
  actions: Action[]
  /** How many passes the history needs for them. */
  passes: number
}

/** Few have very many pictures: each costs time. */
const MANY_ODDS = 0.025
const RULES_ODDS = 0.12

/** What is drawn beside the other actions of a history of so many passes. */
export function drawScene(random: Random, passes: number): Scene {
  const kind = random.below(1000) / 1000
  if (kind < MANY_ODDS) return manyPictures(random, passes)
  return kind < MANY_ODDS + RULES_ODDS ? changingRules(random, passes) : { actions: [], passes }
}

/** A folder loses all that it holds, and may get it back. */
function manyPictures(random: Random, passes: number): Scene {
  const emptied = 1 + random.below(Math.max(1, passes - 1))
  const after = emptied + random.below(2)
  const actions = [act(random, 0, 'fillFolder'), act(random, emptied, 'emptyFolder')]
  if (random.chance(0.5)) actions.push(act(random, after, 'bringBack'))
  return { actions, passes: Math.max(passes, after + 1) }
}

/** There are rules, and then others, or nobody knows which. */
function changingRules(random: Random, passes: number): Scene {
  const begun = random.below(2)
  const after = begun + random.below(2)
  const end: Deed = random.pick(['unignore', 'unignore', 'ignoreFileUnreadable', 'prune'])
  const actions = [act(random, begun, 'ignore'), act(random, after, end)]
  if (end === 'prune' && random.chance(0.5)) actions.push(act(random, after, 'unignore'))
  return { actions, passes: Math.max(passes, after + 1) }
}

function act(random: Random, pass: number, deed: Deed): Action {
  const step = random.chance(0.5) ? 0 : 1 + random.below(2 ** (3 + random.below(6)))
  return { pass, step, deed, a: random.next(), b: random.next() }
}
