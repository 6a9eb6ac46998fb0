import { createHash } from 'node:crypto'
import { exemptFromDimensions } from '../protocol/formats.ts'
import { DIMENSION_TOLERANCE } from '../protocol/limits.ts'
import type { Picture } from '../protocol/picture/picture.ts'
import type { CredentialRow } from './data/credentials.ts'
import type { Draft } from './ports.ts'
import { Refusal } from './refusal.ts'
import type { Stores } from './stores.ts'

/** §4.1.5: how many bytes stay free on the disk. */
const DISK_RESERVE = 64 * 2 ** 20

export type UploadNode = ReturnType<typeof openUploadNode>

/** Step 2 of an upload (§4.2): receives the bytes, compares them with what step 1 declared, and stores them. */
export function openUploadNode(stores: Stores) {
  const { db, albums, images, credentials, pictures, readPicture, settings, clock } = stores
  const open = new Map<Promise<string>, number>()

  function refuseWithoutRoom(account: number, size: number): void {
    const own = [...open.values()].filter(holder => holder === account).length
    const { openUploadsMax, openUploadsInAllMax } = settings.readings
    if (own >= openUploadsMax || open.size >= openUploadsInAllMax)
      throw new Refusal('NO_AVAILABLE_IO_NODE', 'Too many uploads are under way.')
    if (pictures.freeBytes() < size + DISK_RESERVE)
      throw new Refusal('NO_AVAILABLE_IO_NODE', 'The disk has no room for the picture.')
  }

  async function receive(credential: CredentialRow, chunks: AsyncIterable<Uint8Array>): Promise<string> {
    const draft = await pictures.begin()
    try {
      const sha256 = await takeIn(draft, chunks, credential.size)
      const picture = await pictureOf(draft)
      if (credential.compares) checkDimensions(picture, credential)
      const file = await draft.keep()
      // The row is written after the bytes are stored. So each row has its bytes, even if the process is killed in between.
      db.transaction(() => record(credential, picture, sha256, file)).immediate()
      return credential.image_id
    } catch (error) {
      await draft.discard()
      throw error
    }
  }

  /** The picture with the dimensions that are compared and listed. If the readings say so, EXIF has turned them. */
  async function pictureOf(draft: Draft): Promise<Picture | null> {
    const picture = await readPicture(draft)
    if (!picture?.turned || settings.readings.dimensions === 'stored') return picture
    return { ...picture, width: picture.height, height: picture.width }
  }

  function record(credential: CredentialRow, picture: Picture | null, sha256: string, file: string): void {
    const now = clock.wall()
    // Since the upload began, another one may have used the credential, or somebody may have deleted the album.
    if (!credentials.spend(credential, now)) throw spentCredential()
    if (!albums.exists(credential.album)) throw new Refusal('lostAlbum', 'The album is gone.')
    images.insert({
      id: credential.image_id,
      account: credential.account,
      album: credential.album,
      name: credential.name,
      size: credential.size,
      mime: picture?.mime ?? credential.mime,
      width: picture?.width ?? credential.width,
      height: picture?.height ?? credential.height,
      sha256,
      file,
      created_at: now,
    })
  }

  return {
    /** Refuses when the node can't receive `size` bytes of an account now (§4.1.5). */
    refuseWithoutRoom,

    credentialOf(token: string): CredentialRow {
      const credential = credentials.byToken(token)
      if (credential) return credential
      throw new Refusal('unknownCredential', 'There is no such upload address.')
    },

    /** Stores a picture. Resolves to the image's id once the image would survive a power cut. A refused upload leaves nothing. */
    async send(credential: CredentialRow, chunks: AsyncIterable<Uint8Array>): Promise<string> {
      if (credential.state !== 'open' || credential.expires_at <= clock.wall()) throw spentCredential()
      refuseWithoutRoom(credential.account, credential.size)
      const upload = receive(credential, chunks).catch(error => {
        throw asNodeTrouble(error)
      })
      open.set(upload, credential.account)
      try {
        return await upload
      } finally {
        open.delete(upload)
      }
    },

    async settled(): Promise<void> {
      await Promise.allSettled(open.keys())
    },
  }
}

async function takeIn(draft: Draft, chunks: AsyncIterable<Uint8Array>, size: number): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) {
    if (draft.size + chunk.byteLength > size) throw wrongLength(size)
    hash.update(chunk)
    await draft.append(chunk)
  }
  if (draft.size < size) throw wrongLength(size)
  return hash.digest('hex')
}

function spentCredential(): Refusal {
  return new Refusal('spentCredential', 'The upload address was used or has run out.')
}

function wrongLength(size: number): Refusal {
  return new Refusal('wrongLength', `The file does not have the ${size} bytes that were declared.`)
}

const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE', 'SQLITE_FULL'])

function asNodeTrouble(error: unknown): unknown {
  const code = (error as { code?: string }).code ?? ''
  return DISK_CODES.has(code) ? new Refusal('nodeFailure', 'The picture cannot be stored now.') : error
}

/** §4.2: refuses a file that is no picture, or that has other dimensions than declared. */
function checkDimensions(picture: Picture | null, { width, height }: Size): void {
  if (picture === null)
    throw new Refusal('UNREADABLE_DIMENSION', 'The file is no picture of a supported format.')
  if (width === null || height === null) {
    if (exemptFromDimensions(picture.mime)) return
    throw new Refusal('exemptButOther', 'No dimensions were declared.')
  }
  if (picture.width === null || picture.height === null)
    throw new Refusal('UNREADABLE_DIMENSION', 'The dimensions of the file cannot be read.')
  if (!isNear(picture.width, width) || !isNear(picture.height, height))
    throw new Refusal(
      'DIMENSION_MISMATCH',
      `The file has ${picture.width} × ${picture.height} pixels, not ${width} × ${height}.`,
    )
}

type Size = Pick<Picture, 'width' | 'height'>

function isNear(actual: number, declared: number): boolean {
  return Math.abs(actual - declared) <= DIMENSION_TOLERANCE
}
