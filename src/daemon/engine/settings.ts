import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { asItLies, type Maker, stripping } from '../../local/sent-picture.ts'
import { systemClock } from '../../protocol/clock.ts'
import { PictureChanged } from '../../remote/host.ts'
import { FileAges } from '../../sync/clock.ts'
import type { EngineSettings, ProcessMemory } from '../../sync/context.ts'
import { AlbumContents } from '../../sync/listing/index.ts'
import { VanishedRules } from '../../sync/scan/index.ts'
import { IncompletePictures, RecoveryPace } from '../../sync/uploads/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { HeicConverter } from '../heic/converter.ts'
import { allowanceOf } from '../report/quota-status.ts'

/** What the config says to the engine. A grace passes only while a daemon runs, which gives it to what a command found gone. */
export function settingsOf(config: Config, isDaemon: boolean): EngineSettings {
  const { deletions, host, uploads, watch } = config
  return {
    allowance: allowanceOf(config),
    settleMs: watch.settle,
    concurrency: uploads.concurrency,
    order: uploads.order,
    hold: deletions,
    graceMs: isDaemon ? deletions.grace : 0,
    graceManyMs: deletions.grace_many,
    isDaemon,
    uploadForm: host.upload_form,
    credentialLifetimeMs: host.credential_lifetime,
  }
}

/** What makes of pictures what is sent of them. Null: nothing does. `sending`: makes JPEGs of HEICs. */
export function makerOf({ uploads }: Config, sending?: HeicConverter['sending'] | null): Maker | null {
  const { strip } = uploads
  const changed = () => new PictureChanged()
  const [heics, others] = [sending?.(strip, changed), strip === 'none' ? null : stripping(strip, changed)]
  if (!heics) return others
  return async (open, ...rest) =>
    (await (open.foreign === 'HEIC' ? heics : others)?.(open, ...rest)) ?? asItLies(open)
}

/** What makes JPEGs of HEICs. Null: nothing does. */
export function heicConverterOf({ mirrors, state_dir }: Config): HeicConverter | null {
  const isUsed = mirrors.some(({ converts }) => converts)
  return isUsed ? new HeicConverter(join(state_dir, 'converted.jpg')) : null
}

export function memoryAtStart({ watch }: Config, { meta }: Synced): ProcessMemory {
  const incomplete = { afterMs: watch.incomplete_after, action: watch.incomplete }
  return {
    incomplete: new IncompletePictures(incomplete),
    ages: new FileAges(meta.get('wall_clock')),
    vanishedRules: new VanishedRules(systemClock),
    contents: new AlbumContents(),
    pace: new RecoveryPace(),
  }
}
