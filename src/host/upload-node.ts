import { createHash } from 'node:crypto'
import { DECIDED_CODES, DECISIONS } from '../protocol/decisions.ts'
import type { Picture } from '../protocol/picture/picture.ts'
import type { Albums } from './data/albums.ts'
import type { CredentialRow, Credentials } from './data/credentials.ts'
import type { Db } from './data/database.ts'
import type { Images } from './data/images.ts'
import { checkDimensions } from './dimension-check.ts'
import type { Clock, Draft, PictureStore, ReadPicture } from './ports.ts'
import { Refusal } from './refusal.ts'
import type { HostSettings } from './settings.ts'

interface Means {
  db: Db
  albums: Albums
  images: Images
  credentials: Credentials
  pictures: PictureStore
  readPicture: ReadPicture
  settings: HostSettings
  clock: Clock
}

export type UploadNode = ReturnType<typeof openUploadNode>

/** Step 2 of an upload (§4.2): takes the bytes, compares them with what was declared, keeps them. */
export function openUploadNode({
  db,
  albums,
  images,
  credentials,
  pictures,
  readPicture,
  settings,
  clock,
}: Means) {
  /** The uploads under way, each with its account. */
  const open = new Map<Promise<string>, number>()

  function refuseWithoutRoom(account: number, size: number): void {
    const own = [...open.values()].filter(holder => holder === account).length
    if (own >= settings.maxOpenUploads || open.size >= settings.maxOpenUploadsInAll)
      throw new Refusal('NO_AVAILABLE_IO_NODE', 'Too many uploads are under way.')
    if (pictures.freeBytes() < size + DECISIONS.diskReserve)
      throw new Refusal('NO_AVAILABLE_IO_NODE', 'The disk has no room for the picture.')
  }

  async function receive(credential: CredentialRow, chunks: AsyncIterable<Uint8Array>): Promise<string> {
    const draft = await pictures.begin()
    try {
      const sha256 = await takeIn(draft, chunks, credential.size)
      const picture = await readPicture(draft)
      checkDimensions(picture, credential)
      const file = await draft.keep()
      // The row comes last: what it lists has its bytes.
      db.transaction(() => record(credential, picture, sha256, file)).immediate()
      return credential.image_id
    } catch (error) {
      await draft.discard()
      throw error
    }
  }

  function record(credential: CredentialRow, picture: Picture | null, sha256: string, file: string): void {
    const now = clock.wall()
    // Another upload may have used the credential meanwhile, and somebody may have deleted the album.
    if (!credentials.spend(credential, now)) throw spentCredential()
    if (!albums.exists(credential.album)) throw new Refusal(DECIDED_CODES.lostAlbum, 'The album is gone.')
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
    /** Refuses where the node can't take in `size` bytes of an account now (§4.1.5). */
    refuseWithoutRoom,

    /** The credential of an upload address. Refuses one that was never issued. */
    credentialOf(token: string): CredentialRow {
      const credential = credentials.byToken(token)
      if (credential) return credential
      throw new Refusal(DECIDED_CODES.unknownCredential, 'There is no such upload address.')
    },

    /**
     * Resolves to the image's id once the image would survive a power cut. `chunks` is asked for no more than is
     * needed to refuse it. A refused upload leaves nothing behind.
     */
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

    /** Resolves once no upload is under way. */
    async settled(): Promise<void> {
      await Promise.allSettled(open.keys())
    },
  }
}

/** Writes the picture aside and returns its SHA-256 in hex. Refuses another length than the declared one. */
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
  return new Refusal(DECIDED_CODES.spentCredential, 'The upload address was used or has run out.')
}

function wrongLength(size: number): Refusal {
  return new Refusal(
    DECIDED_CODES.wrongLength,
    `The file does not have the ${size} bytes that were declared.`,
  )
}

/** Errors of a disk that is full or failing. */
const DISK_TROUBLE = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE', 'SQLITE_FULL'])

function asNodeTrouble(error: unknown): unknown {
  const code = (error as { code?: string }).code ?? ''
  return DISK_TROUBLE.has(code)
    ? new Refusal(DECIDED_CODES.nodeTrouble, 'The picture cannot be stored now.')
    : error
}
