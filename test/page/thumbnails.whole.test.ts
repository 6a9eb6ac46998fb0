import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { smallPicture } from '../../src/page/thumbnails.ts'
import { sourceOfBytes } from '../../src/protocol/picture/byte-reader.ts'
import { noBrowser, openBrowser } from './browser.ts'
import { cameraPicture } from './camera-picture.ts'

const SMALL = readFileSync(
  join(import.meta.dirname, '../../src/cli/try/pictures/Holiday/Mountains/Panorama from the summit.jpg'),
)

it.skipIf(noBrowser)('turns a thumbnail as the large picture is', async () => {
  const page = await (await openBrowser()).newPage()
  const sizeOf = async (orientation: number) => {
    const jpeg = (await smallPicture(sourceOfBytes(cameraPicture(SMALL, orientation, 0))))!
    const source = `data:image/jpeg;base64,${Buffer.from(jpeg).toString('base64')}`
    return page.evaluate(
      `(async () => { const img = new Image(); img.src = '${source}'; await img.decode(); return [img.naturalWidth, img.naturalHeight] })()`,
    )
  }
  expect(await sizeOf(1)).toEqual([900, 260])
  expect(await sizeOf(6)).toEqual([260, 900])
})
