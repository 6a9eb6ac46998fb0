import { fullPath } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { count } from '../../words/text.ts'
import type { Bus, DaemonEvent } from '../events.ts'
import { orNull } from '../or-null.ts'
import { recordedAt } from '../report/mirrored-pictures.ts'
import { recordProblem } from './problem.ts'
import { runCommand } from './run-command.ts'

type Note = (failed: Extract<DaemonEvent, { event: 'upload_command_failed' }>) => void

/** How long the command may take before it is killed, because the next pictures wait for it. */
const PATIENCE_MS = 30_000

interface Turn {
  path: string
  said: Record<string, string>
}

/** What the config says now, and the records that are open. */
interface Current {
  command: string
  synced: Synced
}

/** The most pictures that wait for the command. When there are more, the command does not run for the oldest. */
const WAITING_MAX = 10_000

/** Runs `notify.on_upload` for each picture that has a new address, in order, so that a clipboard ends with the last one. The
 * command is read when it is run, so a mended one counts for the pictures that wait too. */
export class UploadCommand {
  readonly #note: Note
  readonly #stop: AbortSignal
  readonly #records: boolean
  readonly #run: typeof runCommand
  readonly #patienceMs: number
  readonly #turns: Turn[] = []
  #current: Current | null = null
  #work: Promise<void> | null = null
  #left = 0
  /** Whether the last command was killed because it hung. */
  #hung = false
  /** Whether albumd ends once no picture waits. A person may wait for that. */
  #isEnding = false
  #failure: string | null = null
  #untold = 0

  /** No command begins after `stop`. `records`: failures are recorded for `status`, because nobody sees what `note` tells. */
  constructor(
    note: Note,
    stop: AbortSignal,
    records: boolean,
    run: typeof runCommand = runCommand,
    patienceMs = PATIENCE_MS,
  ) {
    this.#note = note
    this.#stop = stop
    this.#records = records
    this.#run = run
    this.#patienceMs = patienceMs
  }

  /** From now on runs `command`, also for the pictures that wait. Without one, none waits. Returns a function that ends this. */
  listen(bus: Bus, command: string | undefined, synced: Synced): () => void {
    this.#current = command === undefined ? null : { command, synced }
    if (command === undefined) {
      this.#turns.length = 0
      // A command that is gone has nothing to mend.
      this.#failure = null
      if (this.#records) orNull(() => recordProblem(synced, 'upload_command_failed', null))
      return () => {}
    }
    return bus.on('pass', emitted => {
      // Only a picture that uses another image than before has an address here.
      if (emitted.event !== 'picture_uploaded' && emitted.event !== 'picture_unchanged') return
      const { mirror, path, cdn_url } = emitted
      if (cdn_url === undefined) return
      if (this.#turns.length >= WAITING_MAX) {
        this.#turns.shift()
        this.#left++
      }
      this.#turns.push({ path, said: saidOf(synced, mirror, path, cdn_url) })
      this.#work ??= this.#takeAll()
    })
  }

  /** Resolves when no picture waits, when a command has hung, or soon after `stop`. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#work
    this.#tellLeft(this.#turns.length, this.#hung ? 'it hung' : 'albumd ended')
    if (this.#untold > 0) this.#tell(`it failed in the same way for ${count(this.#untold, 'more picture')}`)
    this.#untold = 0
  }

  /** Records the command's outcome for `status`. */
  #record(problem: string | null): void {
    if (this.#records && this.#current !== null)
      recordProblem(this.#current.synced, 'upload_command_failed', problem)
  }

  async #takeAll(): Promise<void> {
    for (let turn = this.#next(); turn; turn = this.#next()) {
      this.#tellLeft(this.#left, `more than ${WAITING_MAX} waited`)
      this.#left = 0
      const patience = AbortSignal.timeout(this.#patienceMs)
      const problem = await this.#run(this.#current!.command, turn.said, this.#stop, this.#patienceMs)
      this.#hung = problem !== null && patience.aborted
      // A failure is noted once while the command goes on failing in the same way.
      if (problem !== null && problem === this.#failure) this.#untold++
      else {
        if (problem !== null)
          this.#note({ event: 'upload_command_failed', path: turn.path, message: problem })
        // The records may be closed by now.
        orNull(() => this.#record(problem && `${turn.path}: ${problem}`))
      }
      this.#failure = problem
    }
    this.#work = null
  }

  #next(): Turn | undefined {
    return this.#stop.aborted || (this.#isEnding && this.#hung) ? undefined : this.#turns.shift()
  }

  #tellLeft(pictures: number, why: string): void {
    if (pictures > 0) this.#tell(`${why}, so it was not run for ${count(pictures, 'picture')}`)
  }

  #tell(message: string): void {
    this.#note({ event: 'upload_command_failed', path: null, message })
  }
}

/** The variables for a picture. The id is '' when the file has changed since, the address while it is not known. */
function saidOf(synced: Synced, mirror: string, path: string, url: string | null): Record<string, string> {
  // An error of the records needs no report: the pass fails with the same error and reports it.
  const at = orNull(() => recordedAt(synced, { mirror: { folder: mirror }, path }))
  const picture = at?.kind === 'picture' ? at.picture : null
  return {
    ALBUMD_PATH: fullPath(mirror, path),
    ALBUMD_URL: url ?? '',
    ALBUMD_ALBUM: picture?.album ?? '',
    ALBUMD_ID: picture?.image.remote_id ?? '',
  }
}
