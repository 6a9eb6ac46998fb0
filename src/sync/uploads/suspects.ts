import type { Synced } from '../../synced/synced.ts'
import type { FileKey, FileRow } from '../../synced/tables/files.ts'
import type { UploadResult } from './upload-job.ts'

/** How many suspects are remembered. In an outage each pass may add some. */
const MOST = 200

/**
 * Pictures for which the host said that it is out of order (5xx). That may be an outage, which costs no picture an attempt.
 * Or the host can't take this one picture. So the uploads end, and the next pass begins with other pictures. When the host
 * has served one of these others and refuses the suspect again, the suspect fails.
 */
export class Suspects {
  readonly #synced: Synced
  /** By folder and name, the latest last. */
  readonly #keys: Map<string, FileKey>

  constructor(synced: Synced) {
    this.#synced = synced
    this.#keys = new Map(synced.meta.get('suspects')?.map(key => [textOf(key), key]))
  }

  /** The files, the suspects last. */
  *last(files: Generator<FileRow>): Generator<FileRow> {
    const later: FileRow[] = []
    for (const file of files) {
      if (this.#keys.has(textOf(file))) later.push(file)
      else yield file
    }
    yield* later
  }

  /** What the result means once it is compared with what others met. `served`: this run has uploaded another picture. */
  async weigh({ folder, name }: FileRow, result: UploadResult, served: boolean): Promise<UploadResult> {
    const key = { folder, name }
    const isOfHost = result.kind === 'stop' && !result.ofPicture
    if (isOfHost || result.kind === 'waits') return result
    const isKnown = this.#keys.delete(textOf(key))
    if (result.kind !== 'stop') {
      if (isKnown) await this.#record()
      return result
    }
    this.#keys.set(textOf(key), key)
    await this.#record()
    const { failure, ofPicture } = result
    const hasFailed = this.#synced.failures.codeOf(key) === failure.code
    return failure.othersServed || (isKnown && (served || hasFailed)) ? ofPicture! : result
  }

  #record(): Promise<void> {
    return this.#synced.commit(tx => tx.meta.set('suspects', [...this.#keys.values()].slice(-MOST)))
  }
}

function textOf({ folder, name }: FileKey): string {
  return `${folder}/${name}`
}
