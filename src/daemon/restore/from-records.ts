import { basename } from 'node:path'
import type { Config } from '../../config/schema.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileAtPath, FileState } from '../../synced/tables/files.ts'
import { NotPossible } from '../commands/command.ts'
import { mirroredPictures } from '../report/mirrored-pictures.ts'
import { stateFiles } from '../state/claim.ts'
import { areOlder } from '../state/records.ts'
import { reading } from '../state/state.ts'
import { type Due, fillFolder, type RestoreEvent, type RestoreReport, type Source } from './restore.ts'

export interface RestoreRequest {
  folder: string
  /** The folders of the mirrors to restore. */
  mirrors: readonly string[]
  /** Whether pictures that were deleted from the disk are restored too, while their image is still on the host. */
  deleted: boolean
  /** The host's certificate authorities as PEM. Null: the authorities that Node knows. */
  ca: string | null
}

/**
 * Fills an empty folder with the mirrors' pictures from the host, or goes on where an earlier run ended. It needs no API
 * key, and may run beside a daemon. Throws NotPossible, LockedError and StateError.
 */
export function restoreMirrors(
  config: Config,
  request: RestoreRequest,
  tell: (event: RestoreEvent) => void,
  interruption: Interruption,
): Promise<RestoreReport> {
  const { mirrors, deleted } = request
  return reading(config, async synced => {
    const rows = mirrors.flatMap(folder => synced.mirrors.of(folder) ?? [])
    // Without this error an empty folder would look like a success.
    if (!rows.some(({ id }) => synced.files.anyOfMirror(id)))
      throw new NotPossible(
        `Nothing is recorded of ${mirrors.join(', ')} in ${config.state_dir}. Check state_dir, or fetch what the host lists: albumd restore FOLDER --from-host`,
      )
    const open = () => recordedPictures(synced, rows, foldersFor(mirrors), deleted)
    return { ...(await fillFolder(config, request, open, tell, interruption)), ...unknownTo(config, synced) }
  })
}

/** What the host may hold that the records do not name. Asks nobody: a restore needs no key. */
export function unknownTo(
  { state_dir }: Config,
  synced: Synced,
): Pick<RestoreReport, 'state_is_older' | 'unrecorded'> {
  return {
    state_is_older: areOlder(stateFiles(state_dir), synced),
    unrecorded: synced.audit.findings().filter(({ kind }) => kind === 'foreign').length,
  }
}

/**
 * The folder for each mirror, below the folder that is filled: '' for a single mirror, otherwise the name of the mirror's
 * folder. Where two mirrors have the same name, each gets its whole path.
 */
export function foldersFor(mirrors: readonly string[]): Map<string, string> {
  if (mirrors.length === 1) return new Map([[mirrors[0]!, '']])
  const short = mirrors.map(folder => basename(folder))
  // Names that differ only in capital and small letters count as equal, because on some disks they are.
  const differ = new Set(short.map(name => name.normalize('NFC').toLowerCase())).size === short.length
  const isNamed = short.every(name => name !== '')
  return new Map(
    mirrors.map((folder, at) => [folder, differ && isNamed ? short[at]! : folder.replace(/^\/+/, '')]),
  )
}

export const ONLY_LINKED =
  'The delivery address is not known, because the image was only linked. "albumd adopt --verify" finds it out'

/**
 * A file in one of these states needs no image on the host. When it has none, the restore does not report it as missing.
 */
const NOT_EXPECTED: ReadonlySet<FileState> = new Set(['gone', 'kept', 'hidden'])

/** The recorded files of these mirrors. `folders`: for each mirror, the folder for its pictures. */
function recordedPictures(
  synced: Synced,
  mirrors: readonly { id: number; folder: string }[],
  folders: ReadonlyMap<string, string>,
  withDeleted: boolean,
): Source {
  const pictureOf = mirroredPictures(synced)
  const aside = JSON.stringify([...NOT_EXPECTED])
  const without = withDeleted ? '' : 'gone'
  const totals = mirrors.map(({ id }) => synced.files.toRestore({ mirror: id, aside, without }))
  const dueOf = (mirror: string, file: FileAtPath): Due => {
    const shown = { mirror, path: file.path }
    const found = pictureOf(mirror, file)
    if (found === null) return { shown, picture: null }
    const { image, older, state, url } = found
    const picture = {
      to: pathOf(folders.get(mirror)!, file.path),
      url,
      known: { size: image.size, sha256: image.hash, isLinked: state === 'linked' },
      // Of a version that an earlier albumd sent, only the time of its upload is recorded.
      mtime: older ? (image.mtime ?? Math.round(image.recorded_at * 1000)) : file.mtime,
      note: older ? ('older' as const) : state === 'linked' ? ('proved' as const) : null,
      replacement() {
        const now = synced.files.at(file)
        const due = now && now.image !== image.id ? dueOf(mirror, { ...now, path: file.path }) : null
        return due?.picture ? due : null
      },
    }
    return { shown, picture }
  }
  return {
    pictures: totals.reduce((sum, { pictures }) => sum + pictures, 0),
    bytes: totals.reduce((sum, { bytes }) => sum + bytes, 0),
    noAddress: ONLY_LINKED,
    noImage: { code: 'NOT_ON_HOST', message: 'not uploaded yet' },
    doubt: null,
    *due(report) {
      for (const { id, folder } of mirrors)
        for (const file of synced.files.below(id, '')) {
          if (file.state === 'gone' && !withDeleted) report.gone++
          else {
            const due = dueOf(folder, file)
            if (due.picture !== null || !NOT_EXPECTED.has(file.state)) yield due
          }
        }
    },
  }
}
