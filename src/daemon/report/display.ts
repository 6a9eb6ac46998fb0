import type { Config } from '../../config/schema.ts'
import type { CommandQueue } from '../commands/queue.ts'

/** What the daemon lets those who show it see, and what they may ask it for. */
export interface DaemonView {
  /** The config that it runs with. */
  config(): Config
  /** Its session, where it has one, and a way to have commands carried out. */
  queue: CommandQueue
  /** What keeps it from its state, in a line; null: nothing. */
  problem(): string | null
}

/**
 * Something that shows the daemon at work, from when the state folder is its own to its end. It is a courtesy: where it
 * can't be opened, it says so, and the daemon goes on.
 */
export interface Display {
  open(daemon: DaemonView): Promise<void>
  /** The state folder is another: what stood in it is to be made again. */
  folderRenewed(): Promise<void>
  close(): Promise<void>
}
