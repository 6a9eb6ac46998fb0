import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { enterEscrow } from '../../src/records/escrow.ts'
import { lost, proved } from '../../src/records/images.ts'
import { found } from '../../src/records/pictures.ts'
import type { Tx } from '../../src/synced/synced.ts'
import type { FileRow, FileState } from '../../src/synced/tables/files.ts'
import type { ImageRow } from '../../src/synced/tables/images.ts'
import { because } from '../../src/words/reasons.ts'
import { emptyState } from '../synced/open-tx.ts'

const MOMENT = { now: 1_000_000, running: 5000, graceMs: 600_000 }
const hashOf = (text: string) => createHash('sha256').update(text).digest()

/** A mirror with one picture, and an image that the picture uses. */
function records(state: FileState, proof: ImageRow['proof'] = 'uploaded') {
  const synced = emptyState()
  return synced.commitNow(tx => {
    const { id: mirror } = tx.mirrors.add('/pictures', 'Photos')
    const { id: folder } = tx.folders.add(mirror, '')
    const image = imageOf(tx, 'first', proof)
    const look = { name: 'a.png', size: 5, mtime: 1, ctime: 2, ino: 3 }
    const file: FileRow = { ...look, folder, state, since: null, image: image.id, hash: image.hash, flat: 0 }
    tx.files.put(file)
    return { synced, mirror, file, image }
  })
}

function imageOf(tx: Tx, bytes: string, proof: ImageRow['proof']): ImageRow {
  return tx.images.put({
    remote_id: `id of ${bytes}`,
    cdn_url: null,
    album: null,
    name: 'a.png',
    hash: hashOf(bytes),
    size: bytes.length,
    mime: 'image/png',
    width: 1,
    height: 1,
    recorded_at: 1,
    proof,
  })
}

/** An upload of the file whose outcome is not known. */
function doubtful(tx: Tx, file: FileRow) {
  const id = tx.journal.openUpload({
    ...file,
    hash: file.hash!,
    how: null,
    file_hash: file.hash!,
    file_size: file.size,
    mime: 'image/png',
    width: 1,
    height: 1,
    cdn_url: null,
    remote_id: null,
    album: null,
    since: 1,
    sent_at: 1,
  })
  return tx.journal.openUploads().find(open => open.id === id)!
}

describe('what is recorded together', () => {
  it('a grace begins with the running time on record, also when recovery finds the newer image', () => {
    const { synced, file, image } = records('uncertain')
    synced.commitNow(tx => {
      const second = { ...file, hash: hashOf('second') }
      tx.files.put(second)
      const intent = doubtful(tx, second)
      const at = { remote_id: 'new', cdn_url: null, album: null, proof: 'uploaded', flat: 0 } as const
      found(tx, intent, at, () => 'propagate', MOMENT)
    })
    expect(synced.escrow.of(image.id)).toMatchObject({ reason: 'superseded', due_at: 605_000 })
    expect(synced.meta.get('running_ms')).toBe(5000)
  })

  it('a hidden file keeps its record when its image is gone, and no deletion of that image is left', () => {
    const { synced, mirror, file, image } = records('hidden')
    synced.commitNow(tx => {
      enterEscrow(tx, { image: image.id, mirror, path: 'a.png', reason: 'ignored' }, MOMENT)
      lost(tx, image, MOMENT.now)
    })
    expect(synced.files.at(file)).toMatchObject({ state: 'hidden', image: null })
    expect(synced.escrow.of(image.id)).toBeUndefined()
    expect(synced.images.byId(image.id)).toBeUndefined()
  })

  it('an image that an audit found gone is so no longer once it is found, or has no record', () => {
    const finding = { kind: 'gone', album: null, name: 'a.png', detail: because('not_listed') } as const
    const at = { cdn_url: null, album: null, proof: 'uploaded', flat: 0 } as const
    for (const ends of [found, lost]) {
      const { synced, file, image } = records('uncertain')
      const { remote_id } = image
      synced.commitNow(tx => {
        tx.audit.put({ ...finding, remote_id })
        if (ends === lost) lost(tx, image, MOMENT.now)
        // A host may give equal bytes the same id again.
        else found(tx, doubtful(tx, file), { remote_id, ...at }, () => 'propagate', MOMENT)
      })
      expect(synced.audit.gone()).toEqual([])
    }
  })

  it('a file is synced once the bytes of its linked image are proved, whoever compared them', () => {
    const { synced, file, image } = records('linked', 'none')
    synced.commitNow(tx => proved(tx, image, image, 'https://example.com/i/1', true))
    expect(synced.files.at(file)).toMatchObject({ state: 'synced' })
    expect(synced.images.byId(image.id)).toMatchObject({ proof: 'compared' })
  })
})
