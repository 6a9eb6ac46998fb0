import { readdirSync, readFileSync } from 'node:fs'

/** What a running process has used so far. */
export interface Usage {
  cpuSeconds: number
  /** Resident, in MiB: the most so far, and now. */
  peakMb: number
  nowMb: number
}

/** Ticks of /proc are hundredths of a second on every Linux that Node runs on. */
const TICK = 0.01

export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  // The command's name, in parentheses, may hold blanks.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) * TICK,
    peakMb: kilobytesOf(status, 'VmHWM') / 1024,
    nowMb: kilobytesOf(status, 'VmRSS') / 1024,
  }
}

/** How many inotify watches a process holds. */
export function watchesOf(pid: number): number {
  let watches = 0
  for (const fd of readdirSync(`/proc/${pid}/fdinfo`)) {
    try {
      watches += readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8').split('inotify wd:').length - 1
    } catch {
      // Closed meanwhile.
    }
  }
  return watches
}

function kilobytesOf(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)![1])
}
