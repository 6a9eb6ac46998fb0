import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../machine/free-port.ts'
import { syncthingId } from '../../peers/syncthing.ts'
import { giveToUser, type Place } from '../place.ts'
import { Program } from '../program.ts'
import { folderSide, type Tool, unchanged, type Variant } from './tool.ts'

const KEY = 'accidents'

interface Side {
  home: string
  folder: string
  type: string
  versioning: string
  id: string
  gui: number
  sync: number
}

/** Two of them, on this machine alone. The watcher collects for a second, not for ten, so that a cell ends. */
async function syncthing(place: Place, isCareful: boolean): Promise<Tool> {
  const sideOf = async (name: string, folder: string, type: string, versioning = ''): Promise<Side> => {
    const home = join(place.home, name)
    const [gui, sync] = [await freePort(), await freePort()]
    return {
      home,
      folder,
      type: isCareful ? type : 'sendreceive',
      versioning,
      id: syncthingId(home),
      gui,
      sync,
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
    writeFileSync(join(one.home, 'config.xml'), configOf(one, other))
    giveToUser(one.home)
  }
  const start = ({ home }: Side) =>
    new Program(
      'syncthing',
      ['serve', `--home=${home}`, '--no-browser', '--no-restart', '--no-upgrade', '--logflags=0'],
      join(home, 'log'),
      { HOME: home, STMONITORED: 'yes' },
    )
  const side = folderSide(place)
  const receiver = start(far)
  let sender: Program | null = null
  let read = 0
  const rests = async (one: Side) =>
    /"state": ?"(?:idle|error|outofsync)/.test(await ask(one, 'db/status?folder=it'))

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
      await ask(near, 'db/scan?folder=it', 'POST')
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
      const shown = /"error": ?"([^"]+)"/.exec(await ask(near, 'db/status?folder=it'))
      return [...lines.filter(line => /WARNING|error/i.test(line)), ...(shown ? [`page: ${shown[1]}`] : [])]
    },
    close: () => receiver.stop(),
  }
}

async function ask({ gui }: Side, path: string, method = 'GET'): Promise<string> {
  try {
    const asked = { method, headers: { 'x-api-key': KEY }, signal: AbortSignal.timeout(30_000) }
    return await (await fetch(`http://127.0.0.1:${gui}/rest/${path}`, asked)).text()
  } catch {
    return ''
  }
}

/** All that would leave the machine is off. What is not named here is as it comes. */
function configOf(own: Side, other: Side): string {
  const device = ({ id, sync }: Side) =>
    `<device id="${id}"><address>tcp://127.0.0.1:${sync}</address></device>`
  return `<configuration version="36">
  <folder id="it" path="${own.folder}" type="${own.type}" rescanIntervalS="3600" fsWatcherEnabled="true" fsWatcherDelayS="1">
    <device id="${own.id}"/><device id="${other.id}"/>${own.versioning}
  </folder>
  ${device(own)}${device(other)}
  <gui enabled="true" tls="false"><address>127.0.0.1:${own.gui}</address><apikey>${KEY}</apikey></gui>
  <options>
    <listenAddress>tcp://127.0.0.1:${own.sync}</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled>
    <localAnnounceEnabled>false</localAnnounceEnabled>
    <relaysEnabled>false</relaysEnabled>
    <natEnabled>false</natEnabled>
    <startBrowser>false</startBrowser>
    <urAccepted>-1</urAccepted>
    <crashReportingEnabled>false</crashReportingEnabled>
    <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
    <stunServer></stunServer>
    <reconnectionIntervalS>2</reconnectionIntervalS>
  </options>
</configuration>
`
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
