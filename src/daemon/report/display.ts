import type { Config } from '../../config/schema.ts'
import type { Errands } from '../control/errands.ts'

/** What the daemon lets those who show it see, and what they may ask it for. */
export interface Desk {
  /** The config that it runs with. */
  config(): Config
  /** Its workplace, where it has one, and a way to have deeds carried out. */
  errands: Errands
  /** What keeps it from its state, in a line; null: nothing. */
  trouble(): string | null
}

/**
 * Something that shows the daemon at work, from when the state folder is its own to its end. It is a courtesy: where it
 * can't be opened, it says so, and the daemon goes on.
 */
export interface Display {
  open(desk: Desk): Promise<void>
  /** The state folder is another: what stood in it is to be made again. */
  folderRenewed(): Promise<void>
  close(): Promise<void>
}
