import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FORMATS, formatOfName } from '../../src/protocol/formats.ts'
import { readPicture } from '../../src/protocol/picture/picture.ts'
import { sourceOf } from './sources.ts'

const FOLDER = join(import.meta.dirname, '../../src/cli/try/pictures')

/** What ImageMagick's identify printed for each; of an icon's entries the largest, of a GIF's frames the first. */
const IDENTIFIED: [string, string, number, number][] = [
  ['Holiday/Coast/Lighthouse.jpeg', 'JPEG', 600, 400],
  ['Holiday/Coast/Sailing.webp', 'WEBP', 640, 400],
  ['Holiday/Coast/Sunset on the beach.jpg', 'JPEG', 720, 480],
  ['Holiday/Coast/Waves.gif', 'GIF', 240, 160],
  ['Holiday/Mountains/Früher Morgen.jpg', 'JPEG', 720, 480],
  ['Holiday/Mountains/Hut in the snow.png', 'PNG', 480, 320],
  ['Holiday/Mountains/Night sky.webp', 'WEBP', 360, 240],
  ['Holiday/Mountains/Panorama from the summit.jpg', 'JPEG', 900, 260],
  ['Holiday/Our way along the coast.svg', 'SVG', 480, 320],
  ['Icons/Kite.svg', 'SVG', 96, 96],
  ['Icons/Pixel heart.bmp', 'BMP3', 88, 88],
  ['Icons/Sun.ico', 'ICO', 48, 48],
  ['Scans/Letter, page 1.tiff', 'TIFF', 1240, 1754],
  ['Scans/Letter, page 2.tif', 'TIFF', 1240, 1754],
  ['Scans/Treasure map.bmp', 'BMP3', 160, 120],
  ['Screenshots/Screenshot 2026-05-03 09-41-12.png', 'PNG', 800, 500],
  ['Screenshots/Terminal (copy).PNG', 'PNG', 560, 300],
]

describe('the sample pictures', () => {
  test.each(IDENTIFIED)('%s is what other programs see', async (path, program, width, height) => {
    const picture = await readPicture(sourceOf(readFileSync(join(FOLDER, path))))
    expect(picture).toMatchObject({ width, height, format: program.toLowerCase().replace('bmp3', 'bmp') })
    expect(picture?.format).toBe(formatOfName(path))
  })

  test('are these and one text, and have every extension of §4.3', () => {
    const found = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter(entry =>
      entry.isFile(),
    )
    const paths = found.map(entry => join(entry.parentPath, entry.name).slice(FOLDER.length + 1))
    expect(paths.sort()).toEqual([...IDENTIFIED.map(([path]) => path), 'README.txt'].sort())
    const extensions = new Set(paths.map(path => extname(path).slice(1).toLowerCase()))
    const wanted = Object.values(FORMATS).flatMap(format => [...format.extensions])
    expect([...extensions].sort()).toEqual([...wanted, 'txt'].sort())
  })
})
