import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkFolders } from '../../src/config/folders.ts'
import { because, inWords } from '../../src/words/reasons.ts'
import { asNobody } from '../nobody.ts'
import { tempFolder } from '../temp-folder.ts'

let root: string

beforeEach(() => {
  root = tempFolder()
  for (const name of ['photos/2024', 'other', 'state']) mkdirSync(join(root, name), { recursive: true })
})

function check(folders: string[], stateDir = 'state') {
  const mirrors = folders.map((name, index) => ({
    folder: join(root, name),
    album: `Album ${index}`,
    deletions: 'propagate' as const,
    ignore: [],
  }))
  return checkFolders({ mirrors, state_dir: join(root, stateDir) })
}

describe('the folders of the mirrors', () => {
  it('are right when they are there, apart, and away from the state', () => {
    expect(check(['photos', 'other'])).toEqual([])
    expect(check(['photos'], 'state/not/made/yet')).toEqual([])
  })

  it('are told when they are missing, files, or links to nothing', () => {
    writeFileSync(join(root, 'file'), '')
    symlinkSync('nowhere', join(root, 'dangling'))
    const places = ['missing', 'file', 'file/below', 'dangling']
    expect(check(places)).toEqual(
      places.map((place, n) =>
        expect.objectContaining({
          code: 'FOLDER_MISSING',
          key: `mirrors[${n}].folder`,
          message: expect.stringMatching(
            `^${join(root, place)} is ${place === 'file' ? 'no folder' : 'not there'}`,
          ),
        }),
      ),
    )
  })

  it('are told in the words of a running daemon whose mirror is guarded', () => {
    const folder = join(root, 'missing')
    expect(check(['missing'])).toMatchObject([{ message: inWords(because('root_missing', { folder })) }])
  })

  it('are told when a link makes two of them one', () => {
    symlinkSync('photos/2024', join(root, 'link'))
    expect(check(['photos', 'link'])).toEqual([
      {
        file: null,
        line: null,
        column: null,
        key: 'mirrors[1].folder',
        message: `${join(root, 'link')} lies in mirrors[0].folder; mirrors may not overlap`,
        code: 'FOLDER_OVERLAP',
        folder: join(root, 'link'),
      },
    ])
  })

  it('are told when a link leads the state into one of them, made already or not', () => {
    symlinkSync('photos/2024', join(root, 'link'))
    for (const stateDir of ['link', 'link/not/made/yet']) {
      expect(check(['photos'], stateDir)).toMatchObject([
        { code: 'FOLDER_OVERLAP', folder: join(root, 'photos') },
      ])
    }
  })

  it('are told when they may not be read', async () => {
    chmodSync(root, 0o755)
    chmodSync(join(root, 'other'), 0o000)
    const found = await asNobody(() => check(['other']))
    chmodSync(join(root, 'other'), 0o700)
    expect(found).toMatchObject([{ code: 'FOLDER_UNREADABLE', message: expect.stringContaining('EACCES') }])
    expect(found[0]!.message).toContain('Let the user that albumd runs as read it')
  })

  it('are told with what is wrong: no permission makes a name shorter', () => {
    const [found] = check(['n'.repeat(300)])
    expect(found).toMatchObject({ code: 'FOLDER_UNREADABLE' })
    expect(found!.message).toContain('(ENAMETOOLONG). Give it, or a folder above it, a shorter name')
  })
})
