import { createHash } from 'node:crypto'
import type { ListPage } from '../../src/remote/host.ts'

/** The host's tree: an image's album path and name → the SHA-256 of each image of that name there. */
export async function treeOf(
  baseUrl: string,
  cdnBaseUrl: string,
  key: string,
): Promise<Record<string, string[]>> {
  const tree: Record<string, string[]> = {}
  const list = async (album: string | null, page: number) => {
    const query = new URLSearchParams({ page: String(page), ...(album && { album_id: album }) })
    const response = await fetch(`${baseUrl}/list?${query}`, { headers: { 'x-api-key': key } })
    return ((await response.json()) as { data: ListPage }).data
  }
  async function read(album: string | null, path: string): Promise<void> {
    for (let page = 1, last = 1; page <= last; page++) {
      const { albums, images, pagination } = await list(album, page)
      last = pagination.total_pages
      for (const { id, name } of images) {
        const response = await fetch(`${cdnBaseUrl}/i/${id}`)
        const hash = createHash('sha256').update(Buffer.from(await response.arrayBuffer()))
        tree[path + name] = [...(tree[path + name] ?? []), hash.digest('hex')]
      }
      if (page === 1) for (const child of albums) await read(child.id, `${path}${child.name}/`)
    }
  }
  await read(null, '')
  return tree
}
