import type { Millis } from '../../protocol/clock.ts'
import type { Committer, MetaReads } from '../../synced/synced.ts'
import { because, inWords } from '../../words/reasons.ts'

/** A pause by a person: nothing is sent or deleted. `until`: null until `resume`. */
export interface Pause {
  until: Millis | null
}

/** The pause at `now`. Null: albumd is not paused, or the pause is over. */
export function pauseAt({ meta }: MetaReads, now: number): Pause | null {
  if (meta.get('paused') === null) return null
  const until = meta.get('paused_until')
  if (until === null) return { until: null }
  return until > now ? { until } : null
}

export function pause({ commit }: Committer, until: number | null): Promise<void> {
  return commit(tx => {
    tx.meta.set('paused', true)
    if (until === null) tx.meta.clear('paused_until')
    else tx.meta.set('paused_until', until)
  })
}

export function resume({ commit }: Committer): Promise<void> {
  return commit(tx => {
    tx.meta.clear('paused')
    tx.meta.clear('paused_until')
  })
}

export function pauseInWords({ until }: Pause): string {
  return inWords(because('paused_until', { until }))
}
