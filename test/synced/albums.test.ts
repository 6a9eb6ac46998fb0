import { beforeEach, describe, expect, it } from 'vitest'
import { memoryDb, openTx } from './open-tx.ts'

let albums: ReturnType<typeof openTx>['albums']

beforeEach(() => {
  const db = memoryDb()
  albums = openTx(db).albums
})

/** Where an album hangs by the records. */
function pathOf(remoteId: string): string {
  const names: string[] = []
  let at = albums.byRemoteId(remoteId)
  for (; at && names.length < 20; at = at.parent === null ? undefined : albums.byId(at.parent))
    names.unshift(at.name)
  return names.join('/')
}

describe('an album that is found under another name', () => {
  it('keeps its record, and what lies in it', () => {
    const old = albums.put(null, 'old', 'X', true)
    albums.put(old.id, 'child', 'C', true)
    const moved = albums.put(null, 'new', 'X', false)
    expect(moved).toEqual({ ...old, name: 'new' })
    expect(albums.named(null, 'old')).toBeUndefined()
    expect(pathOf('C')).toBe('new/child')
  })

  it('changes places with the lost one that bore the name', () => {
    const above = albums.put(null, 'above', 'A', true)
    const lost = albums.put(null, 'new', 'Y', true)
    const old = albums.put(above.id, 'old', 'X', true)
    albums.doubt('Y')
    expect(albums.put(null, 'new', 'X', false)).toEqual({ ...old, parent: null, name: 'new' })
    expect(albums.byId(lost.id)).toEqual({ ...lost, parent: above.id, name: 'old', confirmed: 0 })
  })

  it.each([
    ['in itself', (x: number) => x, 'a/x'],
    ['below itself', (_: number, below: number) => below, 'a/x'],
  ])('keeps its place where the host shows it %s', (_, parentOf, path) => {
    const a = albums.put(null, 'a', 'A', true)
    const x = albums.put(a.id, 'x', 'X', true)
    const below = albums.put(x.id, 'below', 'B', true)
    expect(albums.put(parentOf(x.id, below.id), 'again', 'X', false)).toEqual(x)
    expect(pathOf('X')).toBe(path)
  })

  it('keeps its place where the lost one that bore the name has it below itself', () => {
    const lost = albums.put(null, 'a', 'A', true)
    const x = albums.put(lost.id, 'x', 'X', true)
    albums.doubt('A')
    expect(albums.put(null, 'a', 'X', false)).toEqual(x)
    expect(pathOf('X')).toBe('a/x')
  })
})

describe('a name that is now another album', () => {
  it('puts in doubt what lay in the one before, and is ours only if albumd made it', () => {
    const lost = albums.put(null, 'a', 'A', true)
    const child = albums.put(lost.id, 'child', 'C', true)
    expect(albums.put(null, 'a', 'B', false)).toMatchObject({ id: lost.id, remote_id: 'B', ours: 0 })
    expect(albums.byId(child.id)).toMatchObject({ remote_id: 'C', confirmed: 0 })
  })

  it('doubts nothing where it is the same album after all', () => {
    const a = albums.put(null, 'a', 'A', true)
    const child = albums.put(a.id, 'child', 'C', true)
    albums.doubt('A')
    expect(albums.byId(a.id)).toMatchObject({ confirmed: 0 })
    expect(albums.put(null, 'a', 'A', false)).toEqual(a)
    expect(albums.byId(child.id)).toEqual(child)
  })
})

describe('a doubt', () => {
  it('is about one id: the album that took its place by now stays', () => {
    albums.put(null, 'a', 'A', true)
    const now = albums.put(null, 'a', 'B', true)
    albums.doubt('A')
    expect(albums.byId(now.id)).toEqual(now)
  })
})
