import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { browserOfFile, noBrowser, openPage } from './browser.ts'
import { setPageStage } from './page-stage.ts'

/** Where the pictures of the docs are put: `PICTURES=.github npx vitest run test/page/docs-pictures.whole.test.ts`. */
const { PICTURES } = process.env
const SAMPLES = join(import.meta.dirname, '../../src/cli/try/pictures')
const theBrowser = browserOfFile()

/** A screen full of windows, as nobody has it. */
function screen(n: number): Promise<Buffer> {
  const window = (at: number) =>
    `<rect x="${30 + at * 90}" y="${20 + ((n * 7 + at * 5) % 9) * 8}" width="110" height="90" rx="6" fill="hsl(${n * 37 + at * 90} 60% 70%)"/>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><rect width="320" height="200" fill="hsl(${n * 37} 40% 30%)"/>${[0, 1, 2].map(window)}</svg>`
  return sharp(Buffer.from(svg)).png().toBuffer()
}

it.skipIf(noBrowser)('shows what would be deleted, and takes the pictures of the docs', async () => {
  const stage = await setPageStage({
    config: {
      mirrors: [
        { folder: 'photos', album: 'Photos' },
        { folder: 'screens', album: 'Screens' },
      ],
      deletions: { grace: '0s', grace_many: '1d', hold_min: 3 },
    },
  })
  const [photos, screens] = ['photos', 'screens'].map(name => join(stage.home, name)) as [string, string]
  cpSync(SAMPLES, photos, { recursive: true })
  for (let n = 0; n < 60; n++) stage.write(`../screens/2026-11/screen ${n}.png`, await screen(n))
  const daemon = await stage.run()
  await daemon.told('scan_finished', 2)
  const pending = async () =>
    (await stage.json('status')).mirrors.map((mirror: { pending_uploads: number }) => mirror.pending_uploads)
  await expect.poll(pending, { interval: 2000 }).toEqual([0, 0])
  for (let n = 0; n < 12; n++) rmSync(join(screens, `2026-11/screen ${n}.png`))
  await daemon.told('deletions_many')
  for (const folder of ['Holiday', 'Icons']) rmSync(join(photos, folder), { recursive: true })
  await daemon.told('deletions_held')

  const into = PICTURES ?? tempFolder()
  mkdirSync(into, { recursive: true })
  const browser = await theBrowser()
  const page = await openPage(browser, stage.url)
  await page.evaluate(axe.source)
  const views = [
    ['status-page', 'light', 1280],
    ['status-page-narrow', 'light', 360],
    ['status-page-dark', 'dark', 1280],
  ] as const
  for (const [name, colorScheme, width] of views) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    // A browser asks only for what is near.
    await page.mouse.wheel(0, 10_000)
    await expect.poll(() => page.evaluate(MISSING), { interval: 500 }).toBe(0)
    await page.evaluate('scrollTo(0, 0)')
    if (name === 'status-page-dark') await page.getByRole('button', { name: 'Delete all now…' }).click()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    expect(await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')).toEqual(
      [],
    )
    await nameFolders(page, stage.home)
    const fullPage = name !== 'status-page-dark'
    const picture = sharp(await page.screenshot({ fullPage })).png({ palette: true })
    await picture.toFile(join(into, `${name}.png`))
  }

  // Without scripts the same buttons ask the same, and do it.
  const plain = await openPage(browser, stage.url, { javaScriptEnabled: false })
  await plain.getByRole('button', { name: `Keep on the host… of ${photos}/Icons` }).click()
  await plain.getByRole('button', { name: `Keep 3 images of ${photos}/Icons` }).click()
  await expect.poll(async () => (await stage.json('status')).mirrors[0].held_deletions).toBe(9)
  expect(page.complaints).toEqual([])
})

/** How many of the pictures that are not folded have not come yet. */
const MISSING = `[...document.querySelectorAll('main > section > :not(details) img')].filter(img => img.naturalWidth === 0).length`

/** Folders as people have them. The next look at albumd writes them anew. */
function nameFolders(page: Page, home: string): Promise<void> {
  return page.evaluate(`{
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(${JSON.stringify(home)}, '/srv')
  }`)
}
