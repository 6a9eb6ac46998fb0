import { type FileKey, textOf } from '../synced/tables/files.ts'

/** A folder of a mirror: the mirror's folder, and the path below it. */
interface Place {
  mirror: string
  folder: string
}

/** The files whose uploads are under way. An upload records its file as it was at the beginning. So a scan beside the uploads
 * leaves its record alone, and its folder is scanned again when the upload has ended. When a person writes over `a.jpg` during
 * its upload, the record says that the first version is on the host, and the next scan finds the second. An upload that ends
 * during a scan stays under way until the scan ends, which may have looked at the file before the upload read it. */
export class UnderWay {
  readonly #scanAgain: (mirror: string, folders: readonly string[]) => void
  /** The places to scan again, by file. */
  readonly #files = new Map<string, Place[]>()
  /** The files whose changes a scan has left out, and that were not scanned since. */
  readonly #toScan = new Set<string>()
  #scan: Promise<void> | null = null

  /** `scanAgain`: asks for another scan of folders of a mirror. */
  constructor(scanAgain: (mirror: string, folders: readonly string[]) => void) {
    this.#scanAgain = scanAgain
  }

  async during(file: FileKey, upload: () => Promise<void>): Promise<void> {
    const key = textOf(file)
    const again: Place[] = []
    this.#files.set(key, again)
    try {
      await upload()
    } finally {
      while (this.#scan) await this.#scan
      this.#files.delete(key)
      if (again.length > 0) this.#toScan.add(key)
      for (const { mirror, folder } of again) this.#scanAgain(mirror, [folder])
    }
  }

  get any(): boolean {
    return this.#files.size > 0
  }

  has(file: FileKey): boolean {
    return this.#files.has(textOf(file))
  }

  /** Whether an upload of the file may begin: none is under way, and the file was scanned after the last one. */
  mayBegin(file: FileKey): boolean {
    return !this.has(file) && !this.#toScan.has(textOf(file))
  }

  /** Whether a scan has left out changes of a file under way. */
  isLeftOut(file: FileKey): boolean {
    return (this.#files.get(textOf(file))?.length ?? 0) > 0
  }

  /** Whether the file is under way. If so, notes that the place is scanned again when the upload has ended. */
  leavesOut(file: FileKey, place: Place): boolean {
    if (!this.any) return false
    const places = this.#files.get(textOf(file))
    places?.push(place)
    return places !== undefined
  }

  /** The scan that goes on beside the uploads, or null. When it fails, the uploads fail too. */
  get scan(): Promise<void> | null {
    return this.#scan
  }

  /** Notes a scan that goes on beside the uploads, one at a time. Resolves when it has ended, even with a failure. */
  async beside(scan: Promise<void>): Promise<void> {
    this.#scan = scan.then(() => {
      this.#scan = null
      this.#toScan.clear()
    })
    await this.#scan.catch(() => {})
  }
}
