import { never } from './album-stage.ts'
import type { Workshop } from './workshop.ts'

/** The names of all images on the host, each as often as it is there. */
export async function imagesOn({ host }: Workshop): Promise<string[]> {
  const names: string[] = []
  const walk = async (album: string | null): Promise<void> => {
    const page = await host.list(album, 1, never)
    if (!page.ok) throw new Error(page.failure.message)
    for (const image of page.value.images) names.push(image.name ?? image.id)
    for (const { id } of page.value.albums) await walk(id)
  }
  await walk(null)
  return names.sort()
}
