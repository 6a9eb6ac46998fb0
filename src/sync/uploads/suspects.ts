import { NODE_REFUSES } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import { type FileKey, type FileRow, textOf } from '../../synced/tables/files.ts'
import { because, reasonIn } from '../../words/reasons.ts'
import { nodeTrouble } from './node-refusals.ts'
import type { UploadResult } from './upload-job.ts'

/** How many suspects are remembered at most. In an outage each pass may add some. */
const MOST = 200
/**
 * When upload nodes have refused so many pictures in a row, and none of these pictures before, the nodes are in trouble and
 * not the pictures.
 */
const REFUSALS_MOST = 5

/**
 * Suspects: pictures for which the host answered that it is out of order (5xx), or that a node refused after it had refused
 * several others. Such an answer has two possible causes. There may be an outage; then the picture has not failed. Or the
 * host can't take this one picture. To find out, the uploads end, and the next pass begins with other pictures. When the
 * host takes another picture and refuses the suspect again, the suspect fails.
 */
export class Suspects {
  readonly #synced: Synced
  /** The suspects by folder and name. The latest suspect is the last. */
  readonly #keys: Map<string, FileKey>
  /** How many pictures in a row upload nodes have refused. */
  #refused: number

  constructor(synced: Synced) {
    this.#synced = synced
    this.#keys = new Map(synced.meta.get('suspects')?.map(key => [textOf(key), key]))
    // One refusal shows that the trouble lasts.
    this.#refused = nodeTrouble(synced) ? REFUSALS_MOST : 0
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
   * Decides, for an upload that ended with such an answer, whether the picture fails or an outage ends the uploads. Every
   * other result is answered as it is. `served`: this run has uploaded another picture.
   */
  async weigh({ folder, name }: FileRow, came: UploadResult, served: boolean): Promise<UploadResult> {
    const key = { folder, name }
    const result = this.#ofNodes(key, came)
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
    const hasFailed = this.#synced.failures.ofUpload(key)?.code === ofPicture!.code
    // A node that refuses all pictures says the same of each picture twice. Else the last picture would never fail.
    const isTwice = failure.code === NODE_REFUSES
    return failure.othersServed || (isKnown && (served || hasFailed || isTwice)) ? ofPicture! : result
  }

  /** The same result, or a stop when a node's refusal shows that the nodes are in trouble. */
  #ofNodes(key: FileKey, result: UploadResult): UploadResult {
    if (result.kind === 'uploaded') this.#refused = 0
    if (result.kind !== 'failed' || !result.byNode) return result
    // A picture that was refused before, and is refused again, says nothing about others.
    if (this.#synced.failures.ofUpload(key)?.code !== result.code) this.#refused++
    if (this.#refused < REFUSALS_MOST) return result
    const why = reasonIn(result.message, 'said') ?? result.message
    const told = { code: NODE_REFUSES, message: because('nodes_refuse', { why }) }
    const failure: HostFailure = { ...result.byNode, ...told, remedy: 'refused_by_node' }
    return { kind: 'stop', failure, ofPicture: result }
  }

  #record(): Promise<void> {
    return this.#synced.commit(tx => tx.meta.set('suspects', [...this.#keys.values()].slice(-MOST)))
  }
}
