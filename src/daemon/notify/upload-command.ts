import { albumName } from '../../sync/audit-records.ts'
import type { Tell } from '../../sync/pass-events.ts'
import { folderAbove, fullPath, nameOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Note } from '../daemon-event.ts'
import { childEnvironment } from './child-environment.ts'
import { runCommand } from './run-command.ts'

export interface UploadCommandParts {
  note: Note
  /** Answers what went wrong, or null. `said`: what the command is told. */
  runCommand: (command: string, said: Record<string, string>, stop: AbortSignal) => Promise<string | null>
}

interface Turn {
  command: string
  path: string
  said: Record<string, string>
}

/** So many pictures wait for their turn at most. */
const WAITING_MAX = 10_000

/**
 * Runs `notify.on_upload` for each picture that the host has taken: one at a time and in their order, so that the
 * clipboard has the last one's address at the end. No failure of it stops anything.
 */
export class UploadCommand {
  readonly #parts: UploadCommandParts
  readonly #turns: Turn[] = []
  #arrived = new AbortController()
  #left = 0
  #failure: string | null = null

  constructor(parts: UploadCommandParts) {
    this.#parts = parts
  }

  /** The same, and the command beside it. `command` undefined: there is none. */
  beside(tell: Tell, command: string | undefined, synced: Synced): Tell {
    if (command === undefined) return tell
    return told => {
      tell(told)
      if (told.event !== 'picture_uploaded') return
      const { mirror, path, cdn_url } = told
      this.#wait({ command, path, said: saidOf(synced, mirror, path, cdn_url) })
    }
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const turn = this.#turns.shift()
      if (turn) await this.#take(turn, stop)
      else await this.#arrival(stop)
    }
    this.#tellLeft(this.#turns.length, 'albumd ended before')
  }

  #wait(turn: Turn): void {
    if (this.#turns.length >= WAITING_MAX) {
      this.#turns.shift()
      this.#left++
    }
    this.#turns.push(turn)
    this.#arrived.abort()
  }

  async #take({ command, path, said }: Turn, stop: AbortSignal): Promise<void> {
    this.#tellLeft(this.#left, `more than ${WAITING_MAX} waited`)
    this.#left = 0
    const problem = await this.#parts.runCommand(command, said, stop)
    // One that always fails is told once, not for each picture.
    if (problem !== null && problem !== this.#failure)
      this.#parts.note({ event: 'upload_command_failed', path, message: problem })
    this.#failure = problem
  }

  async #arrival(stop: AbortSignal): Promise<void> {
    this.#arrived = new AbortController()
    const either = AbortSignal.any([stop, this.#arrived.signal])
    if (!either.aborted)
      await new Promise<void>(resolve => either.addEventListener('abort', () => resolve(), { once: true }))
  }

  #tellLeft(pictures: number, why: string): void {
    if (pictures === 0) return
    const message = `it was not run for ${pictures} of the pictures: ${why}`
    this.#parts.note({ event: 'upload_command_failed', path: null, message })
  }
}

/** A command that hangs keeps the others waiting so long. */
const PATIENCE_MS = 30_000

export function openUploadCommand(note: Note): UploadCommand {
  return new UploadCommand({
    note,
    runCommand: (command, said, stop) =>
      runCommand(command, { ...childEnvironment(process.env), ...said }, stop, PATIENCE_MS),
  })
}

/** The upload is recorded when it is told. Once the file has changed again, its id may not be known. */
function saidOf(synced: Synced, mirror: string, path: string, url: string): Record<string, string> {
  const { id, album } = recordedAt(synced, mirror, path)
  return {
    ALBUMD_PATH: fullPath(mirror, path),
    ALBUMD_ALBUM: album,
    ALBUMD_ID: id,
    ALBUMD_URL: url,
  }
}

function recordedAt(synced: Synced, mirror: string, path: string): { id: string; album: string } {
  try {
    return lookUp(synced, mirror, path)
  } catch {
    // Whoever works with the records will notice.
    return { id: '', album: '' }
  }
}

function lookUp(synced: Synced, mirror: string, path: string): { id: string; album: string } {
  const row = synced.mirrors.of(mirror)
  const folder = row && synced.folders.at(row.id, folderAbove(path))
  const file = folder && synced.files.at({ folder: folder.id, name: nameOf(path) })
  const image = file?.image == null ? undefined : synced.images.byId(file.image)
  return { id: image?.remote_id ?? '', album: image ? albumName(synced, image.album) : '' }
}
