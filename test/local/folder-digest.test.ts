import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Disk, DiskEntry, DiskStat } from '../../src/local/disk.ts'
import { lookAtFolder } from '../../src/local/look.ts'
import { expectLook, folderAt } from './walk.ts'

type Item = DiskEntry & Pick<DiskStat, 'size' | 'mtime' | 'ctime' | 'ino'> & { fault: string | null }

interface Folder {
  items: Item[]
  identity: Pick<DiskStat, 'dev' | 'ino' | 'birthtime'>
  rules: string | null
}

/** One folder of a disk in memory: no real one makes equal and nearly equal folders at will. */
function diskOf({ items, identity, rules }: Folder): Disk {
  const entries: DiskEntry[] = [...items]
  if (rules !== null) entries.push({ name: '.albumdignore', validUtf8: true, kind: 'file' })
  return {
    readFolder: () => [...entries],
    lstat(path) {
      if (path === '/root') return { kind: 'folder', size: 0, mtime: 0, ctime: 0, ...identity }
      const item = items.find(({ name }) => path === `/root/${name}`)!
      if (item.fault) throw Object.assign(new Error(item.fault), { code: item.fault })
      return { ...item, birthtime: 0, dev: identity.dev }
    },
    readText: () => rules!,
    mountPoints: () => new Set(),
    isRemote: () => false,
    now: () => 1e12,
  }
}

// So few values that two folders are often equal, and often differ in one of them.
const few = fc.constantFrom(0, 1)
const item: fc.Arbitrary<Item> = fc.record({
  name: fc.constantFrom('a.png', 'b.png', 'a.png,b.png', 'c.gif', 'd', 'e.txt', '.f'),
  validUtf8: fc.constantFrom(true, true, true, false),
  kind: fc.constantFrom('file', 'file', 'file', 'folder', 'link'),
  size: few,
  mtime: few,
  ctime: few,
  ino: few,
  fault: fc.constantFrom(null, null, null, 'EACCES', 'ENOENT'),
})
const folder: fc.Arbitrary<Folder> = fc.record({
  items: fc.uniqueArray(item, { maxLength: 2, selector: ({ name }) => name }),
  identity: fc.record({ dev: few, ino: few, birthtime: few }),
  rules: fc.constantFrom(null, null, '', '*.gif'),
})

/** The same folder again, at times with one thing changed. */
const pair = folder.chain(one =>
  fc.tuple(
    fc.constant(one),
    fc.oneof(
      fc.constant(one),
      fc.record({
        items: fc.constant(one.items),
        identity: folder.map(other => other.identity),
        rules: fc.constant(one.rules),
      }),
      fc.record({
        items: folder.map(other => other.items),
        identity: fc.constant(one.identity),
        rules: fc.constant(one.rules),
      }),
      fc.tuple(fc.nat(), item).map(([at, { name: _, ...change }]) => ({
        ...one,
        items: one.items.map((old, index) => (index === at % one.items.length ? { ...old, ...change } : old)),
      })),
      folder,
    ),
  ),
)

function lookAndDigest(disk: Disk) {
  const result = lookAtFolder(disk, '/root', folderAt(''))
  const { identity, ...look } = expectLook(result)
  // A device's number may change from one start of the machine to the next.
  return { digest: result.kind === 'different' && result.digest, look: { ...look, ...identity, dev: null } }
}

describe('a folder’s digest', () => {
  it('changes if the look changes, and only then', () => {
    const seen = { equal: 0, different: 0 }
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const [first, second] = [lookAndDigest(diskOf(one)), lookAndDigest(diskOf(other))]
        const equal = isDeepStrictEqual(first.look, second.look)
        seen[equal ? 'equal' : 'different']++
        expect(first.digest === second.digest).toBe(equal)
      }),
      { numRuns: 5000 },
    )
    expect(Math.min(seen.equal, seen.different)).toBeGreaterThan(500)
  })

  it('does not depend on the order in which the disk names the entries', () => {
    fc.assert(
      fc.property(folder, one => {
        const reversed = { ...one, items: one.items.toReversed() }
        expect(lookAndDigest(diskOf(reversed))).toEqual(lookAndDigest(diskOf(one)))
      }),
    )
  })
})
