import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import Database from 'better-sqlite3'
import type { Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { startAlbumd } from '../e2e/stage/process.ts'
import { png } from '../pictures.ts'
import { noStore, startStore } from '../shared/real-store.ts'
import { browserOfFile, noBrowser, openPage } from './browser.ts'
import { ask, setPageStage } from './page-stage.ts'

const theBrowser = browserOfFile()
const SCREENSHOT = 'Screenshot from 2026-11-25 14-05-31, the whole desktop with its two monitors.png'

function unfold(page: Page, open: boolean): Promise<unknown> {
  return page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = ${open}`)
}

/** Colours hang on the scheme alone, and places on the width alone. */
const VIEWS = [
  { colorScheme: 'light', width: 320 },
  { colorScheme: 'dark', width: 768 },
  { colorScheme: 'light', width: 1600 },
] as const

/** Everything unfolded, by day and by night, on a telephone and on a wide screen: axe finds nothing, and all fits. */
async function isForEveryone(page: Page, state: string): Promise<void> {
  await unfold(page, true)
  for (const { colorScheme, width } of VIEWS) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    const where = `${state}, ${colorScheme}, ${width} px`
    const found = await page.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ')))`,
    )
    expect(found, where).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBe(width)
  }
}

/** Hours of uploads that do not begin while a test runs. */
function hoursLater(): string {
  const hour = (later: number) => String((new Date().getHours() + later) % 24).padStart(2, '0')
  return `${hour(2)}:00-${hour(3)}:00`
}

/** How often the page says a text. */
async function timesSaid(page: Page, text: string): Promise<number> {
  const sections = await page.locator('section').allTextContents()
  return sections.join().split(text).length - 1
}

/** Presses Tab until `wanted` has the focus. Each element on the way must show that it has the focus. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor()
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Tab')
    // After the last element, Tab leaves the page.
    const outline = await page.evaluate(
      "document.activeElement === document.body ? 'none is needed' : getComputedStyle(document.activeElement).outlineStyle",
    )
    expect(['solid', 'none is needed']).toContain(outline)
    const isThere = await wanted.evaluate(
      (element: unknown) => element === Reflect.get(globalThis, 'document').activeElement,
    )
    if (isThere) return
  }
  throw new Error(`not reached by Tab: ${wanted}`)
}

it.skipIf(noBrowser)(
  'in each state anyone can read the page, and do everything by keyboard alone',
  async () => {
    const stage = await setPageStage({
      config: {
        deletions: { grace: '0', hold_above: '1%', hold_min: 0 },
        uploads: { bandwidth: '500KB/s' },
      },
    })
    for (const name of ['Trip/a', 'Trip/b', 'Trip/c', 'Trip/d', 'Old/x', 'Old/y'])
      stage.write(`${name}.png`, png(30, 20, name.charCodeAt(name.length - 1)).bytes)
    stage.write('Telephone/IMG_0001.HEIC', 'left out')
    const daemon = await stage.run()
    const browser = await theBrowser()
    const page = await openPage(browser, stage.url)
    await page.evaluate(axe.source)
    const titled = (title: string | RegExp) =>
      expect.poll(() => page.title(), { interval: 250 }).toMatch(title)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const folder = (name: string) => join(stage.pictures, name)

    await titled('All in sync – albumd')
    // 3 MB that no line compresses.
    stage.write(`Screenshots/${SCREENSHOT}`, png(2000, 1500, 5).bytes)
    await titled(/^Syncing, 1 left – albumd/)
    await isForEveryone(page, 'syncing')
    await titled('All in sync – albumd')
    const screenshot = page.locator('#latest li', { hasText: SCREENSHOT })
    await screenshot.locator('img').scrollIntoViewIfNeeded()
    await expect
      .poll(() => screenshot.locator('img').evaluate((img: { naturalWidth: number }) => img.naturalWidth))
      .toBe(240)
    await isForEveryone(page, 'in sync')

    for (const name of ['one', 'two', 'three']) stage.write(`Scans/${name}.png`, 'no picture')
    stage.write('Trip/broken.png', 'no picture')
    await daemon.told('picture_failed', 4)
    for (const name of ['Trip/a', 'Trip/b', 'Old/x']) rmSync(join(stage.pictures, `${name}.png`))
    await daemon.told('deletions_held')
    await titled('2 things need you – albumd')
    // An error stands once for each folder: for Scans, and for Trip.
    const failures = page.locator('#failures')
    await expect.poll(() => failures.textContent()).toContain('3 pictures')
    const { message } = (await stage.json('status')).failures[0]
    expect(await timesSaid(page, message)).toBe(2)
    await page.locator('h2', { hasText: '2 pictures would be deleted' }).waitFor()
    await isForEveryone(page, 'needs a person')
    await unfold(page, false)

    await tabTo(page, button('Pause'))
    await page.keyboard.press('Enter')
    await button('Resume').waitFor()
    await isForEveryone(page, 'paused')
    await unfold(page, false)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Resume')
    await page.keyboard.press('Enter')
    await button('Pause').waitFor()

    await tabTo(page, button(`Delete now… of ${folder('Trip')}`))
    await page.keyboard.press('Enter')
    await page.getByText(`Delete 2 images of ${folder('Trip')} from the host?`).waitFor()
    await isForEveryone(page, 'asks')
    await tabTo(page, button(`Delete 2 images of ${folder('Trip')}`))
    await page.keyboard.press('Enter')
    await daemon.told('image_deleted', 2)
    await tabTo(page, button(`Keep on the host… of ${folder('Old')}`))
    await page.keyboard.press('Space')
    await tabTo(page, button(`Keep 1 image of ${folder('Old')}`))
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('section.bad', { hasText: 'would be deleted' }).count()).toBe(0)
    await titled('1 thing needs you – albumd')
    await tabTo(page, page.getByRole('link', { name: SCREENSHOT }))
    await page.keyboard.press('Enter')
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^http/)

    // Another user learns where the key is, before a browser asks for it.
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    const stranger = await openPage(browser, stage.url, { extraHTTPHeaders: headers })
    await stranger.getByText(join(stage.home, 'state/page.key')).waitFor()
    await stranger.evaluate(axe.source)
    await isForEveryone(stranger, 'locked')
    const password = readFileSync(join(stage.home, 'state/page.key'), 'utf8').trim()
    const guest = await openPage(browser, stage.url, {
      extraHTTPHeaders: headers,
      httpCredentials: { username: 'anyone', password },
    })
    await guest.getByRole('link', { name: 'enter it' }).click()
    await guest.getByRole('button', { name: 'Pause' }).waitFor()
    expect(guest.url()).toBe(stage.url)

    for (const name of ['Scans/one', 'Scans/two', 'Scans/three', 'Trip/broken'])
      rmSync(join(stage.pictures, `${name}.png`))
    await titled('All in sync – albumd')
    await stage.restartHost({ apiKeys: ['another-key-of-the-account'] })
    stage.write('Trip/refused.png', png(30, 20, 7).bytes)
    await titled('1 thing needs you – albumd')
    await isForEveryone(page, 'refused key')
    await stage.restartHost({ dailyQuota: 1 })
    daemon.kill('SIGHUP')
    for (const name of ['e', 'f']) stage.write(`Trip/${name}.png`, png(30, 20, name.charCodeAt(0)).bytes)
    await titled(/^Waits for quota, [123] left – albumd/)
    await isForEveryone(page, 'quota used up')
    stage.configure({ uploads: { hours: hoursLater() } })
    daemon.kill('SIGHUP')
    await titled(/^Waits, [123] left – albumd/)
    await isForEveryone(page, 'outside the hours of uploads')
    renameSync(stage.pictures, `${stage.pictures} elsewhere`)
    await titled('1 thing needs you – albumd')
    const { reason } = (await stage.json('status')).mirrors[0]
    expect(await timesSaid(page, reason)).toBe(1)
    await isForEveryone(page, 'guarded')
    daemon.kill('SIGKILL')
    await titled('No answer – albumd')
    await isForEveryone(page, 'no answer')
  },
)

it.skipIf(noBrowser || noStore)(
  'anyone can read the page while albumd waits for its store or its state, and what other machines do',
  async () => {
    const redis = await startStore()
    await redis.kill()
    const account = { shared: redis.url, machine: 'studio' }
    const deletions = { grace: '0' }
    const stage = await setPageStage({ config: { account, deletions } })
    stage.write('gone.png', png(30, 20, 1).bytes)
    const daemon = await stage.run()
    const browser = await theBrowser()
    const page = await openPage(browser, stage.url)
    await page.evaluate(axe.source)
    const titled = (title: string) => expect.poll(() => page.title(), { interval: 250 }).toBe(title)
    const healthz = async () => (await ask({ port: stage.port, path: '/healthz' })).text

    await titled('Waits for the shared store – albumd')
    await page.locator('#attention', { hasText: 'STORE_AWAY' }).waitFor()
    expect(await healthz()).toMatch(/^STORE_AWAY: .*Cannot reach 127/)
    await isForEveryone(page, 'the store is away')
    await redis.start()
    await page.locator('#late', { hasText: 'STORE_NEW' }).waitFor()
    expect(await page.locator('#attention').count()).toBe(0)
    await titled('Waits for the shared store – albumd')
    await isForEveryone(page, 'the store is new')
    const settings = parse(readFileSync(stage.config, 'utf8'))
    const home = join(stage.home, 'laptop')
    mkdirSync(join(home, 'pictures'), { recursive: true })
    writeFileSync(join(home, 'pictures/scan.png'), png(9, 9, 2).bytes)
    const config = join(home, 'albumd.yaml')
    const others = {
      account: { ...account, machine: 'laptop' },
      host: { ...settings.host, api_key_file: join(stage.home, 'api-key') },
      mirrors: [{ folder: 'pictures', album: 'Scans' }],
      status_page: { listen: 'off' },
    }
    writeFileSync(config, stringify({ ...settings, ...others }))
    expect(await startAlbumd({ home, config }, ['sync']).ended).toMatchObject({ code: 0 })
    await page.locator('#quota', { hasText: 'laptop' }).waitFor()
    await titled('All in sync – albumd')
    await isForEveryone(page, 'several machines')

    const late = { uploads: { hours: hoursLater() }, notify: { max_age: '1m' } }
    stage.configure({ account, deletions, status_page: settings.status_page, ...late })
    daemon.kill('SIGHUP')
    await daemon.told('config_taken')
    stage.write('waits.png', png(40, 20, 3).bytes)
    await titled('Waits, 1 left – albumd')
    await stage.restartHost({ plansFrom: 'flagship' })
    rmSync(join(stage.pictures, 'gone.png'))
    await page.locator('#attention', { hasText: 'PLAN_NOT_SUPPORTED' }).waitFor()
    await isForEveryone(page, 'an endpoint is blocked')
    await page.locator('#late', { hasText: 'TOO_OLD' }).waitFor({ timeout: 90_000 })
    expect(await healthz()).toContain('TOO_OLD: A picture has waited')
    await isForEveryone(page, 'it takes long')

    const db = new Database(join(stage.home, 'state/albumd.db'))
    db.exec('BEGIN IMMEDIATE')
    stage.write('more.png', png(50, 20, 4).bytes)
    await titled('Waits for its state – albumd')
    expect(await healthz()).toMatch(/^STATE: .*keeps the state locked/)
    await isForEveryone(page, 'the state is locked')
    db.close()
    await titled('1 thing needs you – albumd')
  },
)
