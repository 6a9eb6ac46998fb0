import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { checkRoot, missingPictures, recordMove, whyNotMovedTo } from '../../sync/scan/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { inWords } from '../../words/reasons.ts'
import { claimWhenFree, type Waiting } from '../state/claim.ts'
import { openClaimed, refuseOther } from '../state/state.ts'
import { refuseClosed } from '../state/state-problem.ts'
import { NotPossible } from './command.ts'

export interface MovedMirror {
  from: string
  to: string
  album: string
  /** How many pictures keep their records and are in the new folder. */
  pictures: number
  /** How many pictures have an image and are not in the new folder. */
  missing: number
  /** The path below the folder of the first missing picture. Null: none is missing. */
  first_missing: string | null
  /** Whether the mirror is guarded until they are there or trusted. False: the next scan takes them as deleted. */
  guarded: boolean
}

/** Makes the records of the mirror at `from` those of the folder `to`, which the config names instead. A daemon can't do this,
 * because it does not open a state that knows another folder than its config. `from`: the folders that the person may mean.
 * `to`: a real path. Throws NotPossible, LockedError and StateError. */
export async function moveMirror(
  config: Config,
  from: readonly string[],
  to: string,
  waiting: Waiting,
): Promise<MovedMirror> {
  refuseClosed(config.state_dir)
  const claim = await claimWhenFree(config, waiting)
  try {
    let moved: MovedMirror
    const move = (synced: Synced) => {
      moved = moveIn(synced, config, from, to)
    }
    openClaimed(config, claim, waiting.say, move).close()
    return moved!
  } finally {
    claim.release()
  }
}

function moveIn(synced: Synced, config: Config, from: readonly string[], to: string): MovedMirror {
  // Checks only the host: the config without mirrors names no other folder.
  refuseOther(synced, { ...config, mirrors: [] })
  const recorded = synced.mirrors.all()
  const mirror = recorded.find(({ folder }) => from.includes(folder) && folder !== to)
  const policy = config.mirrors.find(({ folder }) => folder === to)
  if (!policy)
    throw new NotPossible(
      `The config names no mirror at ${to}, but ${listed(config.mirrors)}. Write the new folder into mirrors[].folder first`,
    )
  if (synced.mirrors.of(to) && !mirror)
    throw new NotPossible(`The mirror is recorded at ${to}, so nothing is left to move`)
  if (synced.mirrors.of(to))
    throw new NotPossible(`${to} has records of its own, so no mirror can move there. Name another folder`)
  if (!mirror)
    throw new NotPossible(`No mirror at ${from[0]} is known. Known are ${listed(recorded) || 'none yet'}`)
  const { folder, album } = mirror
  if (config.mirrors.some(other => other.folder === folder))
    throw new NotPossible(
      `The config still names ${folder}, so its mirror has not moved. Take it out of mirrors[]`,
    )
  if (policy.album !== album)
    throw new NotPossible(
      `${folder} is mirrored in the album "${album}", and the config says "${policy.album}" for ${to}. Put mirrors[].album back`,
    )
  const why = whyNotMovedTo(realDisk, synced, mirror, to)
  if (why) throw new NotPossible(inWords(why))
  const { trusted } = checkRoot(realDisk, synced, { ...mirror, folder: to })
  recordMove(synced, mirror, to)
  let missing = 0
  let first_missing: string | null = null
  for (const { state, path } of missingPictures(realDisk, synced, { ...mirror, folder: to }, () => true))
    if (state !== 'gone' && missing++ === 0) first_missing = path
  const pictures = synced.summaries.mirror(mirror.id).files - missing
  return { from: folder, to, album, pictures, missing, first_missing, guarded: !trusted }
}

function listed(mirrors: readonly { folder: string }[]): string {
  return mirrors.map(({ folder }) => folder).join(', ')
}
