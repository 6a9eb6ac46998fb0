import { basename } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { imageNameOf } from '../../protocol/formats.ts'
import { movedTo } from '../../records/moves.ts'
import { heldVersions, type PastVersion } from '../../records/versions.ts'
import { deliveryAddresses } from '../../sync/listing/index.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileAtPath, FileState } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { inWords } from '../../words/reasons.ts'
import { NotPossible } from '../commands/command.ts'
import { stateFiles } from '../state/claim.ts'
import { areOlder } from '../state/records.ts'
import { reading } from '../state/state.ts'
import { recordedImage } from './altered.ts'
import {
  type Due,
  fillFolder,
  type RecordGiven,
  type RestoreEvent,
  type RestoreReport,
  type Source,
} from './restore.ts'

export interface RestoreRequest {
  folder: string
  mirrors: readonly string[]
  /** Whether pictures that were deleted from the disk are restored too. This needs their images on the host. */
  deleted: boolean
  ca: string | null
  recordGiven: RecordGiven
}

export const WITHOUT_RECORDS =
  'What the host lists can be had all the same: albumd restore FOLDER --from-host'

export function nothingRecorded({ state_dir }: Config, mirrors: readonly string[]): NotPossible {
  return new NotPossible(`Nothing is recorded of ${mirrors.join(', ')} in ${state_dir}. ${WITHOUT_RECORDS}`)
}

/** Fills an empty folder with the mirrors' pictures, or goes on with that. Needs no API key, and may run beside a daemon. Throws
 * NotPossible, LockedError and StateError. */
export function restoreMirrors(
  config: Config,
  request: RestoreRequest,
  emit: (event: RestoreEvent) => void,
  interruption: Interruption,
): Promise<RestoreReport> {
  const { mirrors, deleted } = request
  return reading(config, async synced => {
    const rows = mirrors.flatMap(folder => synced.mirrors.of(folder) ?? [])
    // Without this error an empty folder would look like a success.
    if (!rows.some(({ id }) => synced.files.anyOfMirror(id))) throw nothingRecorded(config, mirrors)
    const open = () =>
      recordedPictures(synced, () => newestVersions(synced, rows, foldersFor(mirrors), deleted), {
        code: 'NOT_ON_HOST',
        message: 'not on the host yet, as far as is known',
      })
    return { ...(await fillFolder(config, request, open, emit, interruption)), ...unknownTo(config, synced) }
  })
}

/** What the host may hold beyond the records. Asks no host, because a restore needs no key. */
export function unknownTo(
  { state_dir }: Config,
  synced: Synced,
): Pick<RestoreReport, 'state_is_older' | 'unrecorded'> {
  return {
    state_is_older: areOlder(stateFiles(state_dir), synced),
    unrecorded: synced.audit.findings().filter(({ kind }) => kind === 'foreign').length,
  }
}

/** The folder for each mirror: '' for a single one, else the name of its folder, or its whole path where names are alike. */
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

const ONLY_LINKED =
  'The delivery address is not known, because the image was only linked. "albumd adopt --verify" finds it out'

export interface WantedPicture extends Pick<Due, 'gone' | 'noImage'> {
  mirror: string
  path: string
  /** The path below the folder that is filled. */
  to: string
  version: PastVersion | null
  image: number | null
  isOlder?: boolean
  isThere?: () => boolean
  now?: () => WantedPicture | null
}

/** Pictures that are fetched by the bytes of their versions. `wanted`: returns the same pictures at each call. */
export function recordedPictures(
  synced: Synced,
  wanted: () => Iterable<WantedPicture>,
  noImage: Source['noImage'],
): Source {
  const addressOf = deliveryAddresses(synced)
  const dueOf = (picture: WantedPicture, tried: readonly number[] = []): Due => {
    const { mirror, path, version, image: own, isOlder, isThere, gone, noImage, now } = picture
    const to = isThere?.() ? picture.to : imageNameOf(picture.to)
    const shown = { mirror, path, to }
    // A picture that has moved has another image of the same bytes. Compared images come first, then the picture's own.
    const rank = ({ id, proof }: ImageRow) => (proof === 'none' ? 2 : 0) + (id === own ? 0 : 1)
    const [image] = (version ? synced.images.byHash(version.hash) : [])
      .filter(({ id }) => !tried.includes(id))
      .sort((a, b) => rank(a) - rank(b))
    if (gone || !version || !image)
      return { shown, picture: null, ...(gone && { gone }), ...(noImage && { noImage }) }
    const isLinked = image.proof === 'none'
    const replacement = () => {
      const other = dueOf(now?.() ?? picture, [...tried, image.id])
      return other.picture ? other : null
    }
    return {
      shown,
      picture: {
        to,
        url: image.cdn_url ?? addressOf(image.remote_id, image.name),
        known: {
          size: version.size,
          sha256: version.hash,
          isLinked,
          image: recordedImage(synced, image),
        },
        mtime: version.mtime,
        note: isOlder ? 'older' : isLinked ? 'proved' : null,
        ...(isThere && { isThere }),
        replacement,
      },
    }
  }
  let pictures = 0
  let bytes = 0
  for (const { version, gone } of wanted()) {
    if (gone) continue
    pictures++
    bytes += version?.size ?? 0
  }
  return {
    pictures,
    bytes,
    noAddress: ONLY_LINKED,
    noImage,
    doubt: null,
    *due() {
      for (const picture of wanted()) yield dueOf(picture)
    },
  }
}

/** States in which a file needs no image on the host. Without one, the restore does not report it as missing. */
const NOT_EXPECTED: ReadonlySet<FileState> = new Set(['gone', 'kept', 'hidden'])

/** The recorded files of these mirrors. `folders`: the folder for each mirror's pictures. */
function* newestVersions(
  synced: Synced,
  mirrors: readonly Pick<MirrorRow, 'id' | 'folder'>[],
  folders: ReadonlyMap<string, string>,
  withDeleted: boolean,
): Generator<WantedPicture> {
  const wantedOf = (mirror: string, file: FileAtPath): WantedPicture => {
    const { path, state, hash } = file
    const [held] = heldVersions(synced, file)
    const isAsHeld =
      held && hash && synced.images.byHash(hash).some(image => synced.images.isOf(image, held.hash))
    const isOlder = held !== undefined && state !== 'linked' && state !== 'synced' && !isAsHeld
    // A version that an earlier albumd sent has only the time of its upload in the records.
    const mtime = isOlder ? (held.mtime ?? Math.round(held.began * 1000)) : file.mtime
    const gone = state === 'gone' ? { movedTo: movedIn(file) } : null
    const failure = state === 'failed' && synced.failures.of(file.folder, file.name)
    return {
      mirror,
      path,
      to: pathOf(folders.get(mirror)!, path),
      version: held ? { ...held, mtime } : null,
      image: file.image,
      isOlder,
      ...(gone && (gone.movedTo !== null || !withDeleted) && { gone }),
      ...(failure && {
        noImage: {
          code: failure.next_attempt_at === null ? 'UPLOAD_FAILED' : 'NOT_ON_HOST',
          message: `not uploaded. ${inWords(failure.message)}`,
        },
      }),
      now() {
        const now = synced.files.at(file)
        return now ? wantedOf(mirror, { ...now, path }) : null
      },
    }
  }
  const folderOf = new Map(mirrors.map(({ id, folder }) => [id, folder]))
  /** Where the file's picture lies now, below the folder that is filled. Null: it is in none of these mirrors. */
  const movedIn = ({ image: id }: FileAtPath): string | null => {
    const image = id === null ? undefined : synced.images.byId(id)
    const moved = image && movedTo(synced, image)
    const folder = moved ? folderOf.get(moved.mirror) : undefined
    return moved && folder ? pathOf(folders.get(folder)!, moved.path) : null
  }
  for (const { id, folder } of mirrors)
    for (const file of synced.files.below(id, '')) {
      const wanted = wantedOf(folder, file)
      if (wanted.version || wanted.gone || !NOT_EXPECTED.has(file.state)) yield wanted
    }
}
