import type { History } from './history.ts'
import { play } from './play.ts'
import { PLAIN_SETTING } from './setting.ts'
import { PLAIN } from './variations.ts'
import type { Kits } from './world.ts'

/** A history as lines for people: what it begins with, what happens, what came of it. */
export async function printed(history: History, kits: Kits): Promise<string[]> {
  const log: string[] = []
  const { violation } = await play(history, kits, log)
  const { variations, mirrors, hold, graceMs, concurrency, order, albumDeletions, setting } = history
  return [
    `host: ${differing(variations, PLAIN) || 'as the embedded one'}`,
    `setting: ${differing(setting, PLAIN_SETTING) || 'the usual one'}`,
    ...mirrors.map((mirror, at) => `/m${at}: ${JSON.stringify(mirror)}`),
    `hold ${JSON.stringify(hold)}, grace ${graceMs} ms, ${concurrency} at a time, ${order} first, albums ${albumDeletions}`,
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
