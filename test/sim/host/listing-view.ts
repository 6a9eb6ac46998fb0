import { humanSize, imageRecord } from '../../../src/host/listing.ts'
import { Refusal } from '../../../src/host/refusal.ts'
import type { ListPage } from '../../../src/remote/host.ts'
import { realOf } from '../disk/real-picture.ts'
import type { Random } from '../histories/random.ts'
import type { Readings, Variations } from '../histories/variations.ts'
import { altered } from './alterations.ts'
import type { HostTruth, TrueImage } from './host-truth.ts'

type Listing = Pick<ListPage, 'albums' | 'images'>

interface Host {
  truth: HostTruth
  variations: Variations
  readings: Readings
  random: Random
}

/** One page of an album as this host shows it: late, in its own order, on pages of its own size. */
export function viewOf(
  { truth, variations, readings, random }: Host,
  now: number,
  listed: Listing,
  album: string | null,
  asked: number,
): ListPage {
  const isShown = ({ id }: { id: string }) => (truth.images.get(id)?.listedFrom ?? 0) <= now
  const shown = listed.images.filter(isShown)
  for (const image of truth.images.values())
    if (image.gone && image.shownUntil > now && (image.album?.id ?? null) === album)
      shown.push(recordOf(image))
  const images = inOrder(
    shown
      .map(odd(truth, variations))
      .map(sized(truth, variations, readings))
      .map(under(variations)),
    variations,
    random,
  )
  const pages = Math.ceil(images.length / variations.perPage)
  const page = pageWithin(asked, Math.max(1, pages), readings)
  const isHere = { all: true, first: page === 1, last: page >= pages }[variations.albumsOn]
  const counted = listed.albums.map(record => ({
    ...record,
    name: listedName(record.name, variations),
    image_count: countShown(truth, record.id, now),
  }))
  return {
    albums: isHere ? inOrder(counted, variations, random) : [],
    images: images.slice((page - 1) * variations.perPage, page * variations.perPage),
    pagination: {
      total_pages: pages || Number(readings.emptyPages),
      total_images: images.length + Number(variations.miscounts),
    },
    cdn_base_url: variations.namesBase ? 'https://cdn.example' : null,
  }
}

function inOrder<T>(items: T[], { order }: Variations, random: Random): T[] {
  if (order === 'oldest') return items
  // An order that differs from page to page repeats some images and leaves others out.
  return order === 'newest' ? items.toReversed() : random.chance(0.8) ? items : random.shuffled(items)
}

function countShown(truth: HostTruth, album: string, now: number): number {
  let count = 0
  for (const image of truth.images.values())
    if (image.album?.id === album && (image.gone ? image.shownUntil > now : image.listedFrom <= now)) count++
  return count
}

function recordOf(image: TrueImage): ListPage['images'][number] {
  return imageRecord({ ...image, size: image.bytes.length, created_at: image.at })
}

/** The number of the page that is shown when page `asked` is asked for and `last` is the last one. */
function pageWithin(asked: number, last: number, { beyondLast, noSuchPage }: Readings): number {
  if (asked <= last || beyondLast === 'empty') return asked
  if (beyondLast === 'last-page') return last
  throw new Refusal(noSuchPage, `The last page is ${last}.`)
}

const NONE = Buffer.alloc(0)

function sized({ images }: HostTruth, { alters, listsAltered }: Variations, { sizes }: Readings) {
  return (record: ListPage['images'][number]) => {
    const image = images.get(record.id)
    const isAltered = listsAltered && realOf(image?.bytes ?? NONE) !== null
    if (!image || (sizes === 'decimal' && !isAltered)) return record
    const { length } = isAltered ? altered(image.bytes, alters) : image.bytes
    return { ...record, size: humanSize(length, sizes === 'decimal' ? 1000 : 1024) }
  }
}

function under(variations: Variations) {
  return (record: ListPage['images'][number]) =>
    record.name === undefined ? record : { ...record, name: listedName(record.name, variations) }
}

/** The name under which the host lists an image or an album. */
export function listedName(name: string, { renames }: Variations): string {
  if (renames === 'lower') return name.toLowerCase().replace(/\.jpeg$/, '.jpg')
  if (renames === 'masked') return name.replace(/^./u, '_')
  return renames === 'numbered' ? name.replace(/(\.[^.]*)?$/, ' (1)$1') : name
}

function odd({ images }: HostTruth, { oddSvg }: Variations) {
  return (record: ListPage['images'][number]) => {
    if (!oddSvg || images.get(record.id)?.bytes.toString('latin1', 0, 3) !== 'svg') return record
    const { width, height, ...rest } = record as { width?: number; height?: number; id: string }
    return rest as ListPage['images'][number]
  }
}
