import { once } from 'node:events'
import { albumName } from '../../sync/album.ts'
import { folderAbove, fullPath, nameOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { Bell } from '../background.ts'
import type { Bus, DaemonEvent } from '../events.ts'
import { runCommand } from './run-command.ts'

type UploadCommandFailed = Extract<DaemonEvent, { event: 'upload_command_failed' }>

/** After how long a command that hangs is ended, because the next pictures wait for it. */
const PATIENCE_MS = 30_000

interface Turn {
  command: string
  path: string
  said: Record<string, string>
}

/** How many pictures wait for the command at most. The oldest are left out. */
const WAITING_MAX = 10_000

/**
 * Runs `notify.on_upload` for each uploaded picture, one at a time and in order, so that a command that copies
 * addresses leaves the last picture's address in the clipboard. A command that fails stops nothing else.
 */
export class UploadCommand {
  readonly #note: (failed: UploadCommandFailed) => void
  readonly #run: typeof runCommand
  readonly #turns: Turn[] = []
  readonly #arrived = new Bell()
  #left = 0
  #failure: string | null = null

  constructor(note: (failed: UploadCommandFailed) => void, run: typeof runCommand = runCommand) {
    this.#note = note
    this.#run = run
  }

  /** Queues `command` for each picture that is uploaded. Undefined: no command. Answers a function that ends that. */
  listen(bus: Bus, command: string | undefined, synced: Synced): () => void {
    if (command === undefined) return () => {}
    return bus.on('pass', told => {
      if (told.event !== 'picture_uploaded') return
      const { mirror, path, cdn_url } = told
      this.#wait({ command, path, said: saidOf(synced, mirror, path, cdn_url) })
    })
  }

  /** Runs until `stop`, or until all waiting pictures are done after `last` said that no more pictures come. */
  async run(stop: AbortSignal, last?: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const turn = this.#turns.shift()
      if (turn) await this.#take(turn, stop)
      else if (last?.aborted) break
      else await this.#arrival(last ? AbortSignal.any([stop, last]) : stop)
    }
    this.#tellLeft(this.#turns.length, 'albumd ended before')
  }

  #wait(turn: Turn): void {
    if (this.#turns.length >= WAITING_MAX) {
      this.#turns.shift()
      this.#left++
    }
    this.#turns.push(turn)
    this.#arrived.ring()
  }

  async #take({ command, path, said }: Turn, stop: AbortSignal): Promise<void> {
    this.#tellLeft(this.#left, `more than ${WAITING_MAX} waited`)
    this.#left = 0
    const problem = await this.#run(command, said, stop, PATIENCE_MS)
    // A command that fails in the same way again and again is told once.
    if (problem !== null && problem !== this.#failure)
      this.#note({ event: 'upload_command_failed', path, message: problem })
    this.#failure = problem
  }

  async #arrival(end: AbortSignal): Promise<void> {
    this.#arrived.heard()
    const any = AbortSignal.any([end, this.#arrived.signal])
    if (!any.aborted) await once(any, 'abort')
  }

  #tellLeft(pictures: number, why: string): void {
    if (pictures === 0) return
    const message = `it was not run for ${pictures} of the pictures: ${why}`
    this.#note({ event: 'upload_command_failed', path: null, message })
  }
}

/**
 * The upload was recorded before its event. The id is '' when the file has changed again since, and the address is '' when the
 * host has not told it.
 */
function saidOf(synced: Synced, mirror: string, path: string, url: string | null): Record<string, string> {
  const said = { ALBUMD_PATH: fullPath(mirror, path), ALBUMD_URL: url ?? '', ALBUMD_ALBUM: '', ALBUMD_ID: '' }
  try {
    const row = synced.mirrors.of(mirror)
    const folder = row && synced.folders.at(row.id, folderAbove(path))
    const file = folder && synced.files.at({ folder: folder.id, name: nameOf(path) })
    const image = file?.image == null ? undefined : synced.images.byId(file.image)
    return image
      ? { ...said, ALBUMD_ALBUM: albumName(synced, image.album), ALBUMD_ID: image.remote_id }
      : said
  } catch {
    // The pass fails with this error of the records too, and tells it.
    return said
  }
}
