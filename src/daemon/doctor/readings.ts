import type { Records } from '../../synced/synced.ts'
import { isoTime } from '../../words/text.ts'
import { type Finding, pass } from './finding.ts'

/** What the host's answers have shown where the specification leaves a choice. It is remembered, not asked each time. */
export function checkReadings({ meta, albums }: Records): Finding[] {
  const findings: Finding[] = []
  if (meta.get('turned_skip'))
    findings.push(
      learned('of pictures that EXIF turns it compares no dimensions (skip_dimension_check)', {
        turned_skip: true,
      }),
    )
  const base = meta.get('cdn_base')
  if (base !== null) findings.push(learned(`images are delivered below ${base}`, { delivery_base: base }))
  const id = meta.get('default_album')
  if (id !== null) {
    const name = id === '' ? null : (albums.byRemoteId(id)?.name ?? id)
    const said = name === null ? 'the account has no default album' : `the account's default album is ${name}`
    findings.push(learned(said, { default_album: name }))
  }
  const opened = isoTime(meta.get('quota_opened'))
  if (opened !== null)
    findings.push(
      learned(`after it was used up, the quota opened again at ${opened}`, { quota_opened: opened }),
    )
  return findings.length > 0 ? findings : [pass('readings', 'nothing is learned of the host yet')]
}

function learned(message: string, of: NonNullable<Finding['learned']>): Finding {
  return { ...pass('readings', message), learned: of }
}
