import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openState } from '../../src/daemon/state/state.ts'
import { parse } from '../config/config-text.ts'
import { tempFolder } from '../temp-folder.ts'

function configuredFor(home: string) {
  mkdirSync(join(home, 'pictures'))
  return (base_url: string) =>
    parse(
      JSON.stringify({
        host: { base_url },
        mirrors: [{ folder: join(home, 'pictures'), album: '' }],
        state_dir: join(home, 'state'),
      }),
    )
}

it('a state belongs to the host where it knows something, and to no address that never answered', async () => {
  const config = configuredFor(tempFolder())
  const said: string[] = []
  const open = (base_url: string) => openState(config(base_url), line => said.push(line))
  const mistyped = await open('https://imagse.example.com/api/v1')
  mistyped.close()
  const state = await open('https://images.example.com/api/v1')
  state.synced.commitNow(tx => tx.albums.put(null, 'Holidays', 'A', true))
  state.close()
  await expect(open('https://imagse.example.com/api/v1')).rejects.toMatchObject({
    code: 'STATE_OTHER_HOST',
    message: expect.stringContaining('the state belongs to https://images.example.com/api/v1'),
  })
  ;(await open('https://images.example.com/api/v1')).close()
  expect(said).toEqual([])
})
