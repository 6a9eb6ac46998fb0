import { realDisk } from '../../local/disk.ts'
import { isKept } from '../../records/escrow.ts'
import { missingPictures, recordTrust, type Trust, trustIn } from '../../sync/scan/index.ts'
import { isAtOrBelow } from '../../sync/tree-path.ts'
import { because, factOf, inWords } from '../../words/reasons.ts'
import { type Command, NotPossible } from './command.ts'

export interface TrustResult {
  /** False: the folder is not in doubt. */
  trusted: boolean
  reason: string | null
  /** How many missing pictures have an image that is not kept for good. These images will be deleted. */
  missing: number
  /** The paths of the first NAMED missing pictures, below the mirror's folder. */
  paths: string[]
  /** The folders of the mirror that are in doubt, where the named folder is not. Otherwise empty. */
  in_doubt: string[]
  /** Whether the config says `deletions: keep` for the mirror, so no image will be deleted. */
  keeps: boolean
}

const NAMED = 10

/** `folder`: the real path of the folder. */
export const trustCommand: Command<{ folder: string }, TrustResult> = {
  request: z => z.strictObject({ folder: z.string() }),
  async carryOut({ config, synced }, { folder }) {
    const policy = config.mirrors.find(({ folder: root }) => folder === root || folder.startsWith(`${root}/`))
    if (!policy)
      throw new NotPossible(inWords(because('in_no_mirror', { path: folder, mirrors: config.mirrors })))
    const keeps = policy.deletions === 'keep'
    const mirror = synced.mirrors.of(policy.folder)
    const path = folder.slice(policy.folder.length + 1)
    const found: Trust = mirror
      ? trustIn(realDisk, synced, mirror, path)
      : { kind: 'needless', elsewhere: [] }
    if (found.kind === 'impossible')
      throw new NotPossible(`Trust does not end this doubt: ${inWords(found.reason)}`)
    if (found.kind === 'needless')
      return { trusted: false, reason: null, missing: 0, paths: [], in_doubt: found.elsewhere, keeps }
    let missing = 0
    const paths: string[] = []
    const isIn = (picture: string) => isAtOrBelow(picture, path)
    for (const picture of keeps ? [] : missingPictures(realDisk, synced, found.mirror, isIn))
      if (!isKept(synced, picture.image) && missing++ < NAMED) paths.push(picture.path)
    await recordTrust(synced, found)
    const fact = factOf(found.reason)
    const reason = found.kind === 'root' ? fact : `${folder}: ${fact}`
    return { trusted: true, reason, missing, paths, in_doubt: [], keeps }
  },
}
