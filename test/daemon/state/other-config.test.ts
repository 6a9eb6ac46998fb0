import { expect, it } from 'vitest'
import { RootLocks } from '../../../src/daemon/state/claim.ts'
import { openClaimed, refuseOther } from '../../../src/daemon/state/state.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced, type Synced } from '../../../src/synced/synced.ts'
import { parse } from '../../config/config-text.ts'
import { FILE } from '../../synced/rows.ts'
import { tempFolder } from '../../temp-folder.ts'

const BASE_URL = 'https://images.example.com/api/v1'

function configuredAs(folder: string, album: string, base_url = BASE_URL, state_dir = '/var/lib/albumd') {
  return parse(JSON.stringify({ host: { base_url }, mirrors: [{ folder, album }], state_dir }))
}

function mirrored(album: string): Synced {
  const synced = openSynced(openDatabase(':memory:'))
  const { id } = synced.commitNow(tx => tx.mirrors.add('/srv/one', album))
  const { id: folder } = synced.commitNow(tx => tx.folders.add(id, ''))
  synced.commitNow(tx => tx.files.put({ ...FILE, folder }))
  return synced
}

it.each([
  ['Photos/A', 'Photos', false],
  ['Photos', 'Photos/A', false],
  ['', 'Photos', false],
  ['Photos', '', false],
  ['Photos/A', 'Photos/B', true],
  ['Photos/A', 'Photo', true],
  ['Photos/A', 'Photos/AB', true],
])('while a removed mirror has images in "%s", another may use "%s": %s', (before, album, may) => {
  const synced = mirrored(before)
  const open = (folder: string, album: string) => () => refuseOther(synced, configuredAs(folder, album))
  const refusal = { code: 'STATE_OTHER_FOLDER', message: expect.stringContaining('/srv/one') }
  if (may) expect(open('/srv/two', album)).not.toThrow()
  else expect(open('/srv/two', album)).toThrow(expect.objectContaining(refusal))
  expect(open('/srv/one', before)).not.toThrow()
  synced.close()
})

it('a folder that is mistyped is not there, and has not moved', () => {
  const synced = mirrored('Photos')
  const [there, typo] = [tempFolder(), '/srv/nowhere']
  const told = (folder: string, words: string) =>
    expect(() => refuseOther(synced, configuredAs(folder, 'Photos'))).toThrow(words)
  told(typo, `the config says ${typo}, which is not there. Correct mirrors[].folder, or mount its disk`)
  // A running daemon refuses its new config with these words too, and the command can't be carried out beside it.
  told(
    there,
    `If the folder was moved, stop a running albumd and say "albumd move-mirror /srv/one ${there}"; else put mirrors[].folder back, or name another album`,
  )
  synced.close()
})

it('a mirror of which nothing is recorded may be replaced by any other', () => {
  const synced = openSynced(openDatabase(':memory:'))
  synced.commitNow(tx => tx.mirrors.add('/srv/one', 'Photos/A'))
  expect(() => refuseOther(synced, configuredAs('/srv/two', 'Photos'))).not.toThrow()
  synced.close()
})

it('a state belongs to the host that it has records of, and not to an address that never answered', () => {
  const home = tempFolder()
  const said: string[] = []
  const open = (base_url = BASE_URL) =>
    openClaimed(
      configuredAs('/pictures', '', base_url, home),
      { roots: new RootLocks([]), replaced: false },
      line => said.push(line),
    )
  open('https://imagse.example.com/api/v1').close()
  const state = open()
  state.synced.commitNow(tx => tx.albums.put(null, 'Holidays', 'A', true))
  state.close()
  expect(() => open('https://imagse.example.com/api/v1')).toThrow(
    expect.objectContaining({
      code: 'STATE_OTHER_HOST',
      message: expect.stringContaining('belongs to https://images.example.com/api/v1'),
    }),
  )
  open().close()
  expect(said).toEqual([])
})
