import { isRemote, type Mount, mountsOf } from '../../local/mount-table.ts'
import type { Clock } from '../../sync/clock.ts'
import { Bell } from '../background.ts'
import type { StaleFolders } from './stale-folders.ts'

/** What is mounted at, above and below a mirror's folder. */
export interface MirrorMounts {
  /** Folders where something was mounted or unmounted since the last call. '': the root itself is another folder now. */
  changed(): string[]
  /** Folders on file systems that other machines may write to. '' is the root. */
  remote(): string[]
}

export function openMirrorMounts(
  mirror: string,
  mounts: () => Mount[],
  say: (line: string) => void,
): MirrorMounts {
  let known = new Map<string, string>()
  let remote: string[] = []
  const said = new Set<string>()

  const folderOf = ({ path }: Mount) => (path.startsWith(`${mirror}/`) ? path.slice(mirror.length + 1) : '')

  function read(): Map<string, string> {
    const mine = mountsOf(mounts(), mirror)
    remote = mine.filter(isRemote).map(folderOf)
    for (const mount of mine.filter(isRemote)) sayOnce(mount)
    return new Map(mine.map(mount => [folderOf(mount), mount.id]))
  }

  function sayOnce(mount: Mount): void {
    const folder = folderOf(mount) === '' ? mirror : mount.path
    const line =
      `${folder} is on a file system of other machines (${mount.type}), which does not tell what they change ` +
      'there. So albumd scans all of it every minute, or less often where a scan takes long; watch.poll sets how often.'
    if (!said.has(line)) say(line)
    said.add(line)
  }

  known = read()
  return {
    changed() {
      const before = known
      known = read()
      const folders = new Set([...before.keys(), ...known.keys()])
      return [...folders].filter(folder => before.get(folder) !== known.get(folder))
    },
    remote: () => remote,
  }
}

/** Has folders scanned again and again, because no event tells of changes there. */
export interface MirrorPoller {
  /** Runs until `end`. */
  run(end: AbortSignal): Promise<void>
  /** A scan of the mirror has ended. */
  scanned(): void
}

export interface MirrorPollerOptions {
  mirror: string
  stale: StaleFolders
  clock: Clock
  /** Milliseconds between two scans. Null: POLL_MS, or longer where a scan takes long. */
  pollMs: number | null
  /** The folders to scan at the moment; '' is everything. */
  folders: () => string[]
}

/** The time between two scans where `watch.poll` does not set it. */
const POLL_MS = 60_000
/** Without `watch.poll` the scans take at most this part of the time. */
const SHARE = 1 / 10

/** Each pause begins when a scan has ended, so that a slow scan is not followed by the next one at once. */
export function openMirrorPoller({
  mirror,
  stale,
  clock,
  pollMs,
  folders,
}: MirrorPollerOptions): MirrorPoller {
  const scanned = new Bell()

  /** Answers how long the scan took, in milliseconds. */
  async function scan(due: string[], end: AbortSignal): Promise<number> {
    const began = clock.monotonic()
    scanned.heard()
    if (due.includes('')) stale.add(mirror, { everything: true })
    else for (const folder of due) stale.add(mirror, folder)
    // A root in doubt is not scanned, so `scanned` may never be called.
    await scanned.sleep(Math.max(POLL_MS, pollMs ?? 0), clock, end)
    return clock.monotonic() - began
  }

  return {
    async run(end) {
      for (let pauseMs = pollMs ?? POLL_MS; ; ) {
        await clock.sleep(pauseMs, end)
        if (end.aborted) return
        const due = folders()
        const tookMs = due.length === 0 ? 0 : await scan(due, end)
        pauseMs = pollMs ?? Math.max(POLL_MS, tookMs / SHARE)
      }
    },
    scanned: () => scanned.ring(),
  }
}
