import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { usageOf } from '../measure/process-usage.ts'
import type { TimedRun } from '../measure/timed-run.ts'
import { nowMs, waitFor } from '../measure/wait.ts'
import { type Daemon, startProgram } from '../ours/daemon.ts'

/** A Syncthing with one folder, which it may share with another Syncthing on this machine. */
export interface Syncthing extends Daemon {
  id: string
  /** Looks at everything, as its REST interface is asked to. */
  rescan(): Promise<TimedRun>
  /** Resolves once it rests and has looked at everything. */
  idle(): Promise<void>
}

export interface SyncthingOptions {
  home: string
  folder: string
  /** Its REST interface and its own protocol, both on this machine alone. */
  guiPort: number
  syncPort: number
  /** The other one. */
  peer?: { id: string; syncPort: number }
}

const KEY = 'bench'

/** Makes its keys, where there are none. Answers its id. */
export function syncthingId(home: string): string {
  if (!existsSync(join(home, 'cert.pem'))) {
    mkdirSync(home, { recursive: true })
    spawnSync('syncthing', ['generate', '--no-default-folder', `--home=${home}`], { stdio: 'ignore' })
  }
  const { stdout } = spawnSync('syncthing', ['--device-id', `--home=${home}`], { encoding: 'utf8' })
  return stdout.trim()
}

export async function startSyncthing(options: SyncthingOptions): Promise<Syncthing> {
  const { home, folder, guiPort } = options
  const id = syncthingId(home)
  mkdirSync(join(folder, '.stfolder'), { recursive: true })
  writeFileSync(join(home, 'config.xml'), configOf(id, options))
  const args = ['serve', `--home=${home}`, '--no-browser', '--no-restart', '--no-upgrade', '--logflags=0']
  const daemon = startProgram('syncthing', args, join(home, 'log'), {
    ...process.env,
    HOME: home,
    // Without the process that only watches over it: what is measured is the one that works.
    STMONITORED: 'yes',
  })
  const rest = (path: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${guiPort}/rest/${path}`, { method, headers: { 'x-api-key': KEY } })
  return {
    ...daemon,
    id,
    async rescan() {
      const { cpuSeconds } = usageOf(daemon.pid)
      const began = nowMs()
      const { status } = await rest('db/scan?folder=bench', 'POST')
      if (status !== 200) throw new Error(`Syncthing answered ${status}: ${readFileSync(join(home, 'log'))}`)
      const { cpuSeconds: after, peakMb } = usageOf(daemon.pid)
      return {
        seconds: (nowMs() - began) / 1000,
        cpuSeconds: after - cpuSeconds,
        peakMb,
        code: 0,
        said: '',
      }
    },
    async idle() {
      await waitFor(
        'the first look of Syncthing',
        async () => {
          const response = await rest('db/status?folder=bench').catch(() => null)
          if (response?.status !== 200) return null
          const { state, stateChanged } = (await response.json()) as Record<string, string>
          // Before its first look it is idle since the year 1.
          return state === 'idle' && !stateChanged!.startsWith('0001') ? true : null
        },
        { limitSeconds: 600 },
      )
    },
  }
}

/** All that would leave the machine is off. */
function configOf(id: string, { folder, guiPort, syncPort, peer }: SyncthingOptions): string {
  const device = (each: string, address: string) =>
    `<device id="${each}" compression="never"><address>${address}</address></device>`
  const devices = peer ? [id, peer.id] : [id]
  return `<configuration version="36">
  <folder id="bench" path="${folder}" type="sendreceive" rescanIntervalS="0" fsWatcherEnabled="true" fsWatcherDelayS="10">
    ${devices.map(each => `<device id="${each}"/>`).join('')}
  </folder>
  ${device(id, 'dynamic')}
  ${peer ? device(peer.id, `tcp://127.0.0.1:${peer.syncPort}`) : ''}
  <gui enabled="true" tls="false"><address>127.0.0.1:${guiPort}</address><apikey>${KEY}</apikey></gui>
  <options>
    <listenAddress>tcp://127.0.0.1:${syncPort}</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled>
    <localAnnounceEnabled>false</localAnnounceEnabled>
    <relaysEnabled>false</relaysEnabled>
    <natEnabled>false</natEnabled>
    <startBrowser>false</startBrowser>
    <urAccepted>-1</urAccepted>
    <crashReportingEnabled>false</crashReportingEnabled>
    <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
  </options>
</configuration>
`
}
