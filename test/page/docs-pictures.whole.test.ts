import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../pictures.ts'
import { tempFolder } from '../temp-folder.ts'
import { browserOfFile, noBrowser, openPage } from './browser.ts'
import { setPageStage } from './page-stage.ts'

/** Where the pictures of the docs are put: `PICTURES=.github npx vitest run test/page/docs-pictures.whole.test.ts`. */
const { PICTURES } = process.env
const SAMPLES = join(import.meta.dirname, '../../src/cli/try/pictures')
const theBrowser = browserOfFile()

const VIEWS = [
  { name: 'status-page', colorScheme: 'light', width: 1280 },
  { name: 'status-page-narrow', colorScheme: 'light', width: 360 },
  { name: 'status-page-dark', colorScheme: 'dark', width: 1280 },
] as const

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
  cpSync(SAMPLES, join(stage.home, 'photos'), { recursive: true })
  for (let n = 0; n < 44; n++) stage.write(`../screens/2026-11/screen ${n}.png`, png(90, 60, n).bytes)
  const daemon = await stage.run()
  await daemon.told('scan_finished', 2)
  const pending = async () =>
    (await stage.json('status')).mirrors.map((mirror: { pending_uploads: number }) => mirror.pending_uploads)
  await expect.poll(pending, { interval: 2000 }).toEqual([0, 0])
  for (let n = 0; n < 9; n++) rmSync(join(stage.home, `screens/2026-11/screen ${n}.png`))
  await daemon.told('deletions_many')
  for (const folder of ['Holiday', 'Icons', 'Scans'])
    rmSync(join(stage.home, 'photos', folder), { recursive: true })
  await daemon.told('deletions_held')

  const into = PICTURES ?? tempFolder()
  mkdirSync(into, { recursive: true })
  const page = await openPage(await theBrowser(), stage.url)
  for (const { name, colorScheme, width } of VIEWS) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    await page.screenshot({ path: join(into, `${name}.png`), fullPage: true })
  }
})
