import type { Config } from '../../config/schema.ts'
import { albumName } from '../../sync/album.ts'
import type { Synced } from '../../synced/synced.ts'
import type { DimensionReading, TypeReading } from '../../synced/tables/meta.ts'
import { sizeInWords } from '../../words/text.ts'
import type { QuotaStatus } from '../report/quota-status.ts'
import { type Finding, pass, warn } from './finding.ts'

const DECLARED: Readonly<Record<DimensionReading, string>> = {
  undeclared: 'left out',
  stored: 'as stored in the file',
  turned: 'as EXIF turns it',
  skip: 'not compared (skip_dimension_check)',
}

const TYPE: Readonly<Record<TypeReading, string>> = {
  bytes: 'that of its bytes',
  name: 'that of its name, because the host refuses the other',
}

/**
 * What the host's answers have shown where the specification leaves a choice. albumd remembers the readings, so it does not
 * ask again for each picture.
 */
export function checkReadings(
  { host }: Pick<Config, 'host'>,
  { meta, albums }: Pick<Synced, 'meta' | 'albums'>,
  { reset }: Pick<QuotaStatus, 'reset'>,
): Finding[] {
  const findings = dimensionFindings(host.dimensions, meta)
  const type = meta.get('declared_type')
  if (type !== null)
    findings.push(
      learned(`a picture whose name stands for another type is declared with ${TYPE[type]}`, {
        declared_type: type,
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
  const closed = albums.closed().map(({ id }) => albumName({ albums }, id))
  if (closed.length > 0)
    findings.push(
      learned(`the host creates no albums in ${inShort(closed)}; albumd asks again after a day`, {
        closed_albums: closed,
      }),
    )
  if (reset.known === 'learned') {
    const { known: _, ...quotaDay } = reset
    const said = `the quota's day begins between ${reset.from} and ${reset.to} UTC`
    findings.push(learned(said, { quota_day: quotaDay }))
  }
  const limit = meta.get('size_limit')
  if (limit)
    findings.push(
      learned(`the host refused a file of ${sizeInWords(limit.refused)} as too large`, {
        size_refused: limit.refused,
      }),
    )
  return findings.length > 0 ? findings : [pass('readings', 'nothing is learned of the host yet')]
}

function dimensionFindings(setting: Config['host']['dimensions'], meta: Synced['meta']): Finding[] {
  const findings: Finding[] = []
  const dimensions: Record<string, DimensionReading> = {}
  for (const [mime, { reading }] of Object.entries(meta.get('dimensions') ?? {}))
    if (reading) dimensions[mime] = reading
  const byType = Object.entries(dimensions).map(([mime, reading]) => `${mime} ${DECLARED[reading]}`)
  if (byType.length > 0) findings.push(learned(`dimensions: ${byType.join('; ')}`, { dimensions }))
  const isRefused = Object.values(dimensions).includes('skip')
  if (isRefused && (setting === 'stored' || setting === 'turned'))
    findings.push(
      warn(
        'readings',
        `dimensions: the host refuses them as host.dimensions says (${setting}), so none are compared`,
        'Leave host.dimensions out: albumd then learns which the host takes',
      ),
    )
  else if (setting !== 'learn')
    findings.push(
      pass('readings', `dimensions: host.dimensions says ${setting}, which goes before what was learned`),
    )
  return findings
}

function learned(message: string, of: NonNullable<Finding['learned']>): Finding {
  return { ...pass('readings', message), learned: of }
}

/** How many names of a list a message names. */
const NAMED = 3

function inShort(names: readonly string[]): string {
  const others = names.length - NAMED
  return others > 0 ? `${names.slice(0, NAMED).join(', ')} and ${others} others` : names.join(', ')
}
