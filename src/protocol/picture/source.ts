/** The bytes of a picture, wherever they are: a file, a buffer, a body that has been written aside. */
export interface ByteSource {
  /** Bytes in all. */
  readonly size: number
  /** The bytes from `offset` on, `length` of them or fewer where the source ends. Rejects where it can't be read. */
  read(offset: number, length: number): Promise<Uint8Array>
}
