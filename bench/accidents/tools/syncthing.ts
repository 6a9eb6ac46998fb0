import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../test/free-port.ts'
import {
  askSyncthing,
  type SyncthingConfig,
  syncthingId,
  syncthingIn,
  writeSyncthingConfig,
} from '../../peers/syncthing.ts'
import { giveToUser, type Place } from '../place.ts'
import { Program } from '../program.ts'
import { folderSide, type Tool, unchanged, type Variant } from './tool.ts'

interface Side extends SyncthingConfig {
  id: string
  home: string
}

/** Two of them, on this machine alone. The watcher collects for a second, not for ten, so that a cell ends. */
async function syncthing(place: Place, isCareful: boolean): Promise<Tool> {
  const sideOf = async (name: string, folder: string, type: string, versioning = ''): Promise<Side> => {
    const home = join(place.home, name)
    const [guiPort, syncPort] = [await freePort(), await freePort()]
    const often = { rescanSeconds: 3600, watchSeconds: 1 }
    const id = syncthingId(home)
    return {
      home,
      id,
      folder,
      guiPort,
      syncPort,
      versioning,
      ...often,
      type: isCareful ? type : 'sendreceive',
    }
  }
  const versioning = '<versioning type="staggered"><param key="maxAge" val="31536000"/></versioning>'
  const near = await sideOf('near', place.pictures, 'sendonly')
  const far = await sideOf('far', place.remote, 'receiveonly', isCareful ? versioning : '')
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    mkdirSync(join(one.folder, '.stfolder'))
    giveToUser(join(one.folder, '.stfolder'))
    writeSyncthingConfig(one.home, one, other)
    giveToUser(one.home)
  }
  const start = ({ home }: Side) => {
    const { args, env } = syncthingIn(home)
    return new Program('syncthing', args, join(home, 'log'), env)
  }
  const side = folderSide(place)
  const receiver = start(far)
  let sender: Program | null = null
  let read = 0
  const rests = async (one: Side) =>
    /"state": ?"(?:idle|error|outofsync)/.test(await ask(one, 'db/status?folder=bench'))

  return {
    ...side,
    async start() {
      sender = start(near)
    },
    async settle() {
      const end = performance.now() + 60_000
      while (!/"connected": ?true/.test(await ask(near, 'system/connections')) && performance.now() < end)
        await sleep(300)
      await sleep(3000)
      // What it does by itself each hour: a look at everything.
      await ask(near, 'db/scan?folder=bench', 'POST')
      while (!((await rests(near)) && (await rests(far))) && performance.now() < end) await sleep(300)
      await unchanged(side.signature, 6)
    },
    stop: async () => sender?.stop(),
    kill: async () => sender?.kill(),
    loseState() {
      for (const name of readdirSync(near.home).filter(each => each.startsWith('index')))
        rmSync(join(near.home, name), { recursive: true })
    },
    async told() {
      const said = sender!.said()
      const lines = said.slice(read).split('\n')
      read = said.length
      const shown = /"error": ?"([^"]+)"/.exec(await ask(near, 'db/status?folder=bench'))
      return [...lines.filter(line => /WARNING|error/i.test(line)), ...(shown ? [`page: ${shown[1]}`] : [])]
    },
    close: () => receiver.stop(),
  }
}

async function ask({ guiPort }: Side, path: string, method = 'GET'): Promise<string> {
  try {
    return await (await askSyncthing(guiPort, path, method, 30_000)).text()
  } catch {
    return ''
  }
}

export const SYNCTHINGS: readonly Variant[] = [
  { tool: 'Syncthing', how: 'default', needs: ['syncthing'], make: place => syncthing(place, false) },
  {
    tool: 'Syncthing',
    how: 'send only, staggered versions',
    needs: ['syncthing'],
    make: place => syncthing(place, true),
  },
]
