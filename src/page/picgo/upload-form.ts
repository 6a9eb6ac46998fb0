import type { IncomingMessage } from 'node:http'
import { addAbortSignal } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { NotPossible } from '../../daemon/commands/command.ts'
import { FORMATS, formatOfName } from '../../protocol/formats.ts'
import type { Take } from './put-now.ts'

/** Takes the files of a form as they arrive, whatever their fields are called: PicGo's is `files`, a plug-in's `list`. Throws
 * NotPossible for what is no form or breaks off. */
export async function filesOf(incoming: IncomingMessage, take: Take): Promise<Awaited<ReturnType<Take>>[]> {
  const taken: ReturnType<Take>[] = []
  const broken = new AbortController()
  try {
    const headers = incoming.headers as BusboyHeaders
    const form = new Busboy({ headers, limits: { headerPairs: 32, headerSize: 8192, fieldSize: 8192 } })
    form.on('file', (_field, stream, filename = '', _encoding, mime) => {
      // Busboy emits errors at a part that nobody reads any more. Without a listener, such an error ends the process.
      stream.on('error', () => {})
      addAbortSignal(broken.signal, stream)
      const name = nameFor(filename, mime)
      // What is left of a file that the disk has no room for is read away. The form would wait for a stream that is destroyed.
      const bytes = stream.iterator({ destroyOnReturn: false })
      taken.push(take(name, () => ({ name, bytes })).finally(() => stream.resume()))
    })
    await pipeline(incoming, form)
    if (taken.length > 0) return await Promise.all(taken)
  } catch {
    broken.abort()
    await Promise.allSettled(taken)
  }
  throw new NotPossible('The body is no well-formed form of files')
}

/** The name for a file of a form. Browsers send some files with their path, and what is in memory without an extension. */
function nameFor(filename: string, mime: string): string {
  const name = filename.split(/[\\/]/).at(-1) || 'picture'
  const format = Object.values(FORMATS).find(format => format.mime === mime)
  return formatOfName(name) || !format ? name : `${name}.${format.extensions[0]}`
}
