import { count } from '../report/quantities.ts'
import type { Status } from '../report/status.ts'

/** The status as one sentence, which the service manager shows. What is gravest comes first. */
export function statusLine({ mirrors, quota, blocks }: Pick<Status, 'mirrors' | 'quota' | 'blocks'>): string {
  const sum = (what: 'files' | 'synced' | 'linked' | 'pending_uploads' | 'held_deletions' | 'failed') =>
    mirrors.reduce((total, mirror) => total + mirror[what], 0)
  const guarded = mirrors.find(({ state }) => state === 'guarded')
  const paused = mirrors.find(({ state }) => state === 'paused')
  const blocked = mirrors.some(({ state }) => state === 'blocked') ? blocks[0] : undefined
  const works = mirrors.find(({ state }) => state === 'scanning' || state === 'syncing')
  const parts = [
    ...(guarded ? [`${guarded.folder} is guarded (${guarded.reason})`] : []),
    ...(paused ? [paused.reason ?? 'paused'] : []),
    ...(blocked ? [`the host refuses ${blocked.endpoint} (${blocked.code})`] : []),
    ...(quota.exhausted ? ['the quota of the day is used up'] : []),
    `${number(sum('synced') + sum('linked'))} of ${count(sum('files'), 'picture')} on the host`,
    ...left(sum('linked'), 'of them linked, their bytes not compared yet'),
    ...left(sum('pending_uploads'), 'to upload'),
    ...left(sum('held_deletions'), 'deletions held'),
    ...left(sum('failed'), 'failed'),
    ...(works ? [works.state] : []),
  ]
  return parts.join('; ')
}

function left(n: number, what: string): string[] {
  return n > 0 ? [`${number(n)} ${what}`] : []
}

function number(n: number): string {
  return n.toLocaleString('en')
}
