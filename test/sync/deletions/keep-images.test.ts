import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { kept } from '../../../src/records/escrow.ts'
import { png } from '../../pictures.ts'
import { count, green, imagesOn, openWithoutRed, openWorkshop, red, summary } from '../workshop.ts'

describe('a mirror that becomes a backup', () => {
  it('keeps what was about to be given up', async () => {
    const workshop = await openWithoutRed()
    await workshop.pass({ graceMs: 1000 })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 1 })
    workshop.mirror.deletions = 'keep'
    await workshop.pass({ running: () => 5000 })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 0 })
    workshop.mirror.deletions = 'propagate'
    await workshop.pass({ running: () => 9000 })
    expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
  })
})

describe('an image that is kept for good', () => {
  it.each(['in a backup that becomes a mirror', 'by a word'])(
    'stays where another picture takes its name, and is found again by its own bytes: %s',
    async how => {
      const workshop = await openWorkshop({ deletions: how === 'by a word' ? 'propagate' : 'keep' })
      workshop.write('red.png', red)
      workshop.write('green.png', green)
      await workshop.pass()
      workshop.remove('red.png')
      await workshop.pass({ graceMs: 1000 })
      const [given] = workshop.synced.escrow.ofMirror(1)
      if (given) workshop.synced.commitNow(tx => kept(tx, [given.image], 0))
      workshop.mirror.deletions = 'propagate'
      workshop.write('red.png', png(9, 9).bytes)
      await workshop.pass({ running: () => 5000 })
      await workshop.pass({ running: () => 9000 })
      expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png', 'red.png'])
      expect(workshop.synced.images.byHash(createHash('sha256').update(red).digest())).toMatchObject([
        { kept: 1 },
      ])
      workshop.write('red.png', red)
      await workshop.pass({ running: () => 15_000 })
      await workshop.pass({ running: () => 19_000 })
      expect(count(workshop, 'picture_uploaded')).toBe(3)
      expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
      expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
    },
  )
})
