import { play } from './campaign.ts'
import type { Kits } from './engine/world.ts'
import type { History } from './histories/history.ts'
import { PLAIN_SETTING } from './histories/setting.ts'
import { PLAIN } from './histories/variations.ts'
import type { Violation } from './judges/oracle.ts'

/** A history as lines for people: what it begins with, what happens, what came of it. */
export async function printed(history: History, kits: Kits): Promise<string[]> {
  const log: string[] = []
  const { violation } = await play(history, kits, log)
  const { variations, mirrors, hold, graceMs, concurrency, order, setting } = history
  return [
    `host: ${differing(variations, PLAIN) || 'as the embedded one'}`,
    `setting: ${differing(setting, PLAIN_SETTING) || 'the usual one'}`,
    ...mirrors.map((mirror, at) => `/m${at}: ${JSON.stringify(mirror)}`),
    `hold ${JSON.stringify(hold)}, grace ${graceMs} ms, ${concurrency} at a time, ${order} first`,
    ...log,
    violation ? `=> ${violation.invariant}: ${violation.what}` : '=> every invariant held',
  ]
}

function differing<T extends object>(one: T, usual: T): string {
  const differs = Object.entries(one).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(usual[key as keyof T]),
  )
  return differs.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(', ')
}

/** The shortest history found that violates the same invariant. At most so many are tried. */
export async function shrink(
  history: History,
  invariant: string,
  kits: Kits,
  most = 1500,
): Promise<{ history: History; violation: Violation }> {
  let best = history
  let violation: Violation = { invariant, what: '' }
  let tried = 0
  const fails = async (candidate: History): Promise<boolean> => {
    if (tried++ >= most) return false
    const played = await play(candidate, kits).catch(() => null)
    if (played?.violation?.invariant !== invariant) return false
    best = candidate
    violation = played.violation
    return true
  }
  await fails(history)
  for (let before: History | null = null; before !== best && tried < most; ) {
    before = best
    await withoutParts(best.actions, actions => fails({ ...best, actions }))
    await withoutParts(best.files, files => fails({ ...best, files }))
    await withoutParts(best.pauses, pauses => fails({ ...best, pauses }))
    for (const simpler of simplifications(best)) await fails({ ...best, ...simpler(best) })
    for (const at of best.actions.keys())
      for (const step of [0, best.actions[at]!.step >> 1])
        if (step !== best.actions[at]!.step)
          await fails({ ...best, actions: best.actions.with(at, { ...best.actions[at]!, step }) })
  }
  return { history: best, violation }
}

/** Leaves out halves, quarters and so on down to single ones, as long as it goes on failing. */
async function withoutParts<T>(items: readonly T[], fails: (left: readonly T[]) => Promise<boolean>) {
  let left = items
  for (let size = left.length; size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < left.length; ) {
      const shorter = left.toSpliced(at, size)
      if (await fails(shorter)) left = shorter
      else at += size
    }
}

function* simplifications({
  variations,
  mirrors,
}: History): Generator<(history: History) => Partial<History>> {
  yield () => ({ variations: PLAIN })
  for (const key of Object.keys(PLAIN) as (keyof typeof PLAIN)[])
    if (variations[key] !== PLAIN[key])
      yield history => ({ variations: { ...history.variations, [key]: PLAIN[key] } })
  for (const name of Object.keys(variations.readings) as (keyof typeof variations.readings)[])
    yield history => {
      const { [name]: _, ...readings } = history.variations.readings
      return { variations: { ...history.variations, readings } }
    }
  yield () => ({ setting: PLAIN_SETTING })
  for (const key of Object.keys(PLAIN_SETTING) as (keyof typeof PLAIN_SETTING)[])
    yield history => ({ setting: { ...history.setting, [key]: PLAIN_SETTING[key] } })
  yield () => ({ concurrency: 1 })
  yield () => ({ order: 'oldest' })
  yield () => ({ graceMs: 0 })
  if (mirrors.length > 1) yield history => ({ mirrors: history.mirrors.slice(0, 1) })
  else yield history => ({ mirrors: history.mirrors.map(mirror => ({ ...mirror, album: 'Photos' })) })
  for (const at of mirrors.keys())
    for (const simple of [
      { mounted: false },
      { subMount: false },
      { bind: false },
      { deletions: 'propagate' as const },
    ])
      yield history => {
        const mirror = history.mirrors[at]
        return mirror ? { mirrors: history.mirrors.with(at, { ...mirror, ...simple }) } : {}
      }
}
