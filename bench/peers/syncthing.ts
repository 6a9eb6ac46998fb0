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

/** What its config says. Its REST interface and its own protocol are on this machine alone. */
export interface SyncthingConfig {
  folder: string
  guiPort: number
  syncPort: number
  type?: string
  versioning?: string
  /** How often it looks at everything; 0: never by itself. */
  rescanSeconds: number
  /** How long its watcher collects. */
  watchSeconds: number
}

export interface SyncthingOptions extends Pick<SyncthingConfig, 'folder' | 'guiPort' | 'syncPort'> {
  home: string
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
  writeSyncthingConfig(home, { ...options, id, rescanSeconds: 0, watchSeconds: 10 }, options.peer)
  const { args, env } = syncthingIn(home)
  const daemon = startProgram('syncthing', args, join(home, 'log'), { ...process.env, ...env })
  return {
    ...daemon,
    id,
    async rescan() {
      const { cpuSeconds } = usageOf(daemon.pid)
      const began = nowMs()
      const { status } = await askSyncthing(guiPort, 'db/scan?folder=bench', 'POST')
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
          const response = await askSyncthing(guiPort, 'db/status?folder=bench').catch(() => null)
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

/** How it is started: without the process that only watches over it. */
export function syncthingIn(home: string) {
  const args = ['serve', `--home=${home}`, '--no-browser', '--no-restart', '--no-upgrade', '--logflags=0']
  return { args, env: { HOME: home, STMONITORED: 'yes' } }
}

/** Asks its REST interface. Its folder is `bench`. */
export function askSyncthing(guiPort: number, path: string, method = 'GET', timeoutMs = 600_000) {
  const signal = AbortSignal.timeout(timeoutMs)
  const asked = { method, headers: { 'x-api-key': KEY }, signal }
  return fetch(`http://127.0.0.1:${guiPort}/rest/${path}`, asked)
}

/** All that would leave the machine is off. */
export function writeSyncthingConfig(
  home: string,
  own: SyncthingConfig & { id: string },
  peer?: { id: string; syncPort: number },
): void {
  const device = ({ id, syncPort }: { id: string; syncPort: number }) =>
    `<device id="${id}" compression="never"><address>tcp://127.0.0.1:${syncPort}</address></device>`
  const devices = peer ? [own, peer] : [own]
  const { folder, type = 'sendreceive', versioning = '', rescanSeconds, watchSeconds } = own
  const xml = `<configuration version="36">
  <folder id="bench" path="${folder}" type="${type}" rescanIntervalS="${rescanSeconds}" fsWatcherEnabled="true" fsWatcherDelayS="${watchSeconds}">
    ${devices.map(({ id }) => `<device id="${id}"/>`).join('')}${versioning}
  </folder>
  ${devices.map(device).join('')}
  <gui enabled="true" tls="false"><address>127.0.0.1:${own.guiPort}</address><apikey>${KEY}</apikey></gui>
  <options>
    <listenAddress>tcp://127.0.0.1:${own.syncPort}</listenAddress>
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
  writeFileSync(join(home, 'config.xml'), xml)
}
