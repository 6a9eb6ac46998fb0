import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { approved } from '../../../src/records/escrow.ts'
import { hostWith } from '../../../src/remote/host.ts'
import { said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { failure, openWith, type Workshop, workshopWith } from '../workshop.ts'

const deleted = ({ events }: Workshop) =>
  events
    .flatMap(emitted => (emitted.event === 'image_deleted' ? `${emitted.path} ${emitted.reason}` : []))
    .sort()

async function hidden(): Promise<Workshop> {
  const workshop = await workshopWith({
    'private/deep/one.png': png(3, 2).bytes,
    'private/two.png': png(3, 3).bytes,
    'a/three.gif.png': png(3, 4).bytes,
    'a/stays.png': png(3, 5).bytes,
    'link.png': png(3, 6).bytes,
    'empty.png': png(3, 7).bytes,
  })
  workshop.write('.albumdignore', 'private/\n*.gif.png\n')
  rmSync(join(workshop.pictures, 'link.png'))
  symlinkSync('a/stays.png', join(workshop.pictures, 'link.png'))
  workshop.write('empty.png', '')
  await workshop.pass()
  await workshop.pass()
  expect(deleted(workshop)).toEqual([])
  return workshop
}

describe('a pass that prunes what is ignored', () => {
  it('gives up what a rule hides and nothing else, also where it was hidden long ago', async () => {
    const workshop = await hidden()
    workshop.mirror.pruneIgnored = true
    await workshop.pass()
    expect(deleted(workshop)).toEqual([
      'a/three.gif.png ignored',
      'private/deep/one.png ignored',
      'private/two.png ignored',
    ])
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ files: 1, synced: 1, pending_deletions: 0 })
    workshop.write('.albumdignore', '')
    await workshop.pass()
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ files: 4, synced: 4 })
  })

  it('gives up what was hidden and has been deleted since, with its folder', async () => {
    const workshop = await hidden()
    rmSync(join(workshop.pictures, 'private'), { recursive: true })
    workshop.write('.albumdignore', '*.gif.png\n')
    await workshop.pass()
    expect(deleted(workshop)).toEqual([])
    workshop.mirror.pruneIgnored = true
    await workshop.pass()
    await workshop.pass()
    expect(deleted(workshop)).toEqual([
      'a/three.gif.png ignored',
      'private/deep/one.png ignored',
      'private/two.png ignored',
    ])
  })

  it('gives up nothing of a folder that no rule hides any more', async () => {
    const workshop = await hidden()
    workshop.write('.albumdignore', '')
    workshop.mirror.pruneIgnored = true
    await workshop.pass()
    const pruned = workshop.events.filter(
      emitted => emitted.event === 'change_found' && emitted.change === 'pruned',
    )
    expect(pruned).toEqual([])
    expect(deleted(workshop)).toEqual([])
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ files: 4, synced: 4, pending_deletions: 0 })
  })

  it('keeps the record of an upload in doubt, and gives up its image once that is found', async () => {
    const workshop = await openWith({ 'one.png': png(3, 2).bytes })
    let silent = false
    const lost = hostWith(workshop.host, {
      async send(...args) {
        await workshop.host.send(...args)
        silent = true
        return failure('find_out', 'HOST_UNREACHABLE', 'send')
      },
      list: async (...args) =>
        silent ? failure('later', 'HOST_UNREACHABLE', 'list') : workshop.host.list(...args),
      fetchDelivered: async () => ({ ok: false, code: 'HOST_UNREACHABLE', message: said('no answer') }),
    })
    await workshop.pass({ host: lost })
    workshop.write('.albumdignore', 'one.png\n')
    workshop.mirror.pruneIgnored = true
    await workshop.pass({ host: lost })
    expect(workshop.synced.journal.openUploads()).toHaveLength(1)
    await workshop.pass()
    expect(deleted(workshop)).toEqual(['one.png ignored'])
  })

  it('gives up what a rule of the config has just hidden', async () => {
    const workshop = await workshopWith({ 'private/one.png': png(3, 2).bytes, 'stays.png': png(3, 3).bytes })
    Object.assign(workshop.mirror, { pruneIgnored: true, ignore: ['private/'] })
    await workshop.pass()
    expect(deleted(workshop)).toEqual(['private/one.png ignored'])
  })

  it('gives up nothing that is no longer hidden when its turn comes', async () => {
    const workshop = await hidden()
    workshop.mirror.pruneIgnored = true
    const host = hostWith(workshop.host, {
      async deleteImage(id, signal) {
        workshop.write('.albumdignore', '!*\n')
        return workshop.host.deleteImage(id, signal)
      },
    })
    await workshop.pass({ host })
    expect(deleted(workshop)).toHaveLength(1)
    workshop.mirror.pruneIgnored = false
    await workshop.pass()
    expect(deleted(workshop)).toHaveLength(1)
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ files: 4, synced: 4, pending_deletions: 0 })
  })

  it('gives up nothing of a backup', async () => {
    const workshop = await hidden()
    Object.assign(workshop.mirror, { pruneIgnored: true, deletions: 'keep' })
    await workshop.pass()
    expect(deleted(workshop)).toEqual([])
  })

  it('obeys the hold, and what was approved goes in a later pass that does not prune', async () => {
    const workshop = await hidden()
    const hold = { hold_above: 0.25, hold_min: 1 }
    workshop.mirror.pruneIgnored = true
    await workshop.pass({ hold })
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ held_deletions: 3 })
    workshop.mirror.pruneIgnored = false
    // A look that comes back whole must not take for needed what a person gave up.
    workshop.write('new.png', png(9, 9).bytes)
    workshop.write('a/new.png', png(9, 8).bytes)
    await workshop.pass({ hold })
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ held_deletions: 3 })
    const held = workshop.synced.escrow.ofMirror(1).map(({ image }) => image)
    await workshop.synced.commit(tx => approved(tx, held, Date.now()))
    await workshop.pass({ hold })
    expect(deleted(workshop)).toHaveLength(3)
  })
})
