import type { Synced } from '../../synced/synced.ts'
import type { FileKey, FileRow } from '../../synced/tables/files.ts'
import type { UploadResult } from './upload-job.ts'

/** How many suspects are remembered at most. In an outage each pass may add some. */
const MOST = 200

/**
 * Suspects: pictures for which the host answered that it is out of order (5xx). Such an answer has two possible causes.
 * There may be an outage; then the picture has not failed. Or the host can't take this one picture. To find out, the
 * uploads end, and the next pass begins with other pictures. When the host takes another picture and refuses the suspect
 * again, the suspect fails.
 */
export class Suspects {
  readonly #synced: Synced
  /** The suspects by folder and name. The latest suspect is the last. */
  readonly #keys: Map<string, FileKey>

  constructor(synced: Synced) {
    this.#synced = synced
    this.#keys = new Map(synced.meta.get('suspects')?.map(key => [textOf(key), key]))
  }

  /** The same files, with the suspects at the end. */
  *last(files: Generator<FileRow>): Generator<FileRow> {
    const later: FileRow[] = []
    for (const file of files) {
      if (this.#keys.has(textOf(file))) later.push(file)
      else yield file
    }
    yield* later
  }

  /**
   * Decides, for an upload that ended with a 5xx, whether the picture fails or an outage ends the uploads. Every other
   * result is answered as it is. `served`: this run has uploaded another picture.
   */
  async weigh({ folder, name }: FileRow, result: UploadResult, served: boolean): Promise<UploadResult> {
    const key = { folder, name }
    const isOfHost = result.kind === 'stop' && !result.ofPicture
    if (isOfHost || result.kind === 'waits' || result.kind === 'compared') return result
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
