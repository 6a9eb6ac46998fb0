import { join } from 'node:path'
import { restoreMoment } from '../../../src/daemon/restore/from-moment.ts'
import { type RestoreRequest, restoreMirrors } from '../../../src/daemon/restore/from-records.ts'
import type { RestoreEvent, RestoreReport } from '../../../src/daemon/restore/restore.ts'
import type { Recorded } from '../recorded-pictures.ts'

const NEVER = { stop: new AbortController().signal, cut: new AbortController().signal }

/** The events of a restore, and the files that it wrote. */
export interface Told {
  report: RestoreReport
  missing: Record<string, string>
  back: string
}

/** Restores all recorded pictures. `request` may say otherwise. */
export async function restore(
  { home, config }: Recorded,
  request: Partial<RestoreRequest> = {},
  interruption = NEVER,
  emit: (event: RestoreEvent) => void = () => {},
): Promise<Told> {
  const missing: Record<string, string> = {}
  const back = request.folder ?? join(home, 'back')
  const report = await restoreMirrors(
    config,
    {
      folder: back,
      mirrors: config.mirrors.map(({ folder }) => folder),
      deleted: false,
      ca: null,
      recordGiven: async () => {},
      ...request,
    },
    event => {
      if (event.event === 'picture_missing') missing[event.path] = event.code
      emit(event)
    },
    interruption,
  )
  return { report, missing, back }
}

/** Restores into a folder, or else into the first mirror, what is recorded now. */
export async function restoreThen({ config }: Recorded, back = config.mirrors[0]!.folder): Promise<Told> {
  const missing: Record<string, string> = {}
  const mirrors = config.mirrors.map(({ folder }) => folder)
  const what = {
    folder: back,
    mirrors,
    at: { given: 'now', moment: Date.now() },
    ca: null,
    recordGiven: async () => {},
  }
  const heard = (event: RestoreEvent) => {
    if (event.event === 'picture_missing') missing[event.path] = event.code
  }
  const report = await restoreMoment(config, what, heard, NEVER)
  return { report, missing, back }
}
