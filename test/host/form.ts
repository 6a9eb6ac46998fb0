/** Forms written out by hand, for what no client would send. */

export const FORM = 'multipart/form-data; boundary=edge'

export interface Part {
  head: string
  content: string | Uint8Array
}

export function form(...parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ head, content }) => [`--edge\r\n${head}\r\n\r\n`, content, '\r\n'])
  return Buffer.concat([...pieces, '--edge--\r\n'].map(piece => Buffer.from(piece as Uint8Array)))
}

export function filePart(content: string | Uint8Array): Part {
  return { head: 'Content-Disposition: form-data; name="file"; filename="a.png"', content }
}
