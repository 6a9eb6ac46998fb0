import type { Config } from '../../config/schema.ts'
import { openPicture, PictureFileError } from '../../local/picture-file.ts'
import { type Step, timeOf } from './explanation.ts'
import type { PlaceInMirror } from './place.ts'

/** What reading a picture shows that keeps it from being sent, or null. Reads all of it. */
export async function contentStep(
  { watch }: Pick<Config, 'watch'>,
  { mirror, path }: PlaceInMirror,
): Promise<Step | null> {
  const step = (what: string, at: string | null = null): Step => ({ what, at, command: null })
  try {
    const open = await openPicture(mirror.folder, path, {
      changed: () => new Error('it changed while it was read'),
    })
    await open.close()
    const { ending, look, picture } = open
    if (!picture) return step('its bytes are no picture of a known format: it will fail')
    if (ending.kind !== 'cut') return null
    const until = look.ctime / 1000 + Math.max(watch.settle, watch.incomplete_after)
    const otherwise = watch.incomplete === 'send' ? 'it is sent as it is' : 'it is a failure until it changes'
    return step(
      `it is not complete (${ending.missing}) and may still be written: it is uploaded once it is whole; if it stays so, ${otherwise}`,
      timeOf(until),
    )
  } catch (error) {
    if (error instanceof PictureFileError) return step(error.message)
    throw error
  }
}
