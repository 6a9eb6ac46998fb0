import type { Bus } from '../daemon/events.ts'
import { LOG_EVENTS, type LogEvent, withoutAddresses } from '../daemon/report/log.ts'
import type { Clock, Millis } from '../protocol/clock.ts'

export interface RecentLine {
  at: Millis
  text: string
}

const KEPT = 50

/** The last lines of the log in short form. */
export class RecentLog {
  /** The latest first. */
  readonly lines: RecentLine[] = []

  constructor(clock: Pick<Clock, 'wall'>, bus: Bus) {
    const add = (text: string) => {
      this.lines.unshift({ at: clock.wall(), text: withoutAddresses(text) })
      this.lines.length = Math.min(this.lines.length, KEPT)
    }
    const addEvent = (emitted: LogEvent) => {
      if (LOG_EVENTS[emitted.event][0] === 'debug') return
      const { event, path, album, mirror, message } = emitted as Partial<Record<string, string>>
      const about = [path ?? album ?? mirror, message].filter(text => text).join(': ')
      add(`${event!.replaceAll('_', ' ')} ${about}`)
    }
    bus.on('news', addEvent)
    bus.on('daemon', addEvent)
    bus.on('say', add)
  }
}
