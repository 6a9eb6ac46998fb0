/** A JPEG as cameras write it: `small` is its thumbnail, turned as EXIF's `orientation` says, and its picture too, after so
 * many bytes of other data. */
export function cameraPicture(small: Buffer, orientation: number, padding: number): Buffer {
  const entry = (tag: number, type: 3 | 4, value: number) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt16BE(tag)
    bytes.writeUInt16BE(type, 2)
    bytes.writeUInt32BE(1, 4)
    if (type === 3) bytes.writeUInt16BE(value, 8)
    else bytes.writeUInt32BE(value, 8)
    return bytes
  }
  const directory = (entries: Buffer[], next: number) => {
    const head = Buffer.alloc(2)
    const tail = Buffer.alloc(4)
    head.writeUInt16BE(entries.length)
    tail.writeUInt32BE(next)
    return Buffer.concat([head, ...entries, tail])
  }
  const tiff = Buffer.concat([
    Buffer.from('MM\0\x2a\0\0\0\x08', 'latin1'),
    directory([entry(0x0112, 3, orientation)], 26),
    directory([entry(0x0103, 3, 6), entry(0x0201, 4, 68), entry(0x0202, 4, small.length)], 0),
    small,
  ])
  const others = Array.from({ length: Math.ceil(padding / 65_533) }, () =>
    segment(0xfe, Buffer.alloc(65_533)),
  )
  const exif = segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]))
  return Buffer.concat([small.subarray(0, 2), exif, ...others, small.subarray(2)])
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}
