import { expect, it } from 'vitest'
import { startDaemon } from '../e2e/stage/process.ts'
import { png } from '../pictures.ts'
import { browserOfFile, noBrowser, openPage } from './browser.ts'
import { ask, setPageStage } from './page-stage.ts'
import { HOSTILE, setScene } from './scene.ts'

const SELDOM = { interval: 500 }
const theBrowser = browserOfFile()

it.skipIf(noBrowser)(
  'shows all there is to see, and its buttons do what they say',
  async () => {
    const browser = await theBrowser()
    const scene = await setScene()
    const page = await openPage(browser, scene.url)
    const text = (selector: string) => () => page.locator(selector).innerText()

    const hasLoaded = (image: ReturnType<typeof page.locator>) => () =>
      image.evaluate((img: { naturalWidth: number }) => img.naturalWidth)
    await page.locator('#pace', { hasText: /over the bay\.png .* of / }).waitFor()
    expect(await text('#mirrors')()).toContain(scene.pictures)
    expect(await text('#quota')()).toContain('of 5,000 uploads today')

    // A name is a name.
    const hostile = page.locator('#latest li', { hasText: '<img src=x' })
    expect(await hostile.locator('.name').textContent()).toBe(HOSTILE.replace('\n', '\\u000a'))
    await expect.poll(hasLoaded(hostile.locator('img')), SELDOM).toBe(40)
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    expect(await page.title()).toBe('2 things need you – albumd')

    // An SVG may hold scripts: no browser gets it.
    const drawing = page.locator('#latest li', { hasText: '.svg' }).first()
    const address = new URL((await drawing.locator('img').getAttribute('src'))!, scene.url)
    await expect.poll(hasLoaded(drawing.locator('img')), SELDOM).toBe(240)
    expect(await ask({ port: scene.port, path: address.pathname })).toMatchObject({
      status: 200,
      headers: { 'content-type': 'image/webp', 'content-security-policy': "default-src 'none'; sandbox" },
    })
    expect(await ask({ port: scene.port, path: '/thumbnails/999999' })).toMatchObject({ status: 204 })
    const elsewhere = ['..%2f..%2fapi-key', '%2fetc%2fpasswd']
    for (const path of elsewhere)
      expect(await ask({ port: scene.port, path: `/thumbnails/${path}` })).toMatchObject({ status: 404 })

    await hostile.locator('a').click()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/i\//)
    expect(copied).toBe(await hostile.locator('a').getAttribute('href'))

    // What is decided about is what was shown, though others wait by now.
    const icons = page.locator('section', { hasText: 'pictures would be deleted' })
    // Their files are gone: they are seen as the host delivers them.
    for (const image of await icons.locator('img').all())
      await expect.poll(hasLoaded(image), SELDOM).toBeGreaterThan(0)
    await icons.getByRole('button', { name: 'Delete now…' }).click()
    const answer = page.getByRole('button', { name: 'Delete 3 images' })
    await answer.waitFor()
    expect((await scene.here('deletions', 'discard', 'Icons/Kite.svg', '-c', scene.config)).code).toBe(0)
    await expect.poll(() => icons.locator('h2').innerText(), SELDOM).toContain('2 pictures')
    await answer.click()
    await expect.poll(text('#commands'), SELDOM).toContain('Other deletions wait now than you saw: 2')
    await icons.getByRole('button', { name: 'Delete now…' }).click()
    await page.getByRole('button', { name: 'Delete 2 images' }).click()
    await scene.daemon.told('image_deleted', 2)
    await expect.poll(() => icons.count(), SELDOM).toBe(0)
    const there = (await scene.listing()).map(line => line.slice(0, line.lastIndexOf(' ')))
    expect(there.filter(path => path.includes('/Icons/'))).toEqual(['Photos/Icons/Kite.svg'])
    const token = await page.locator('input[name=token]').first().getAttribute('value')
    const headers = {
      origin: scene.url.slice(0, -1),
      'content-type': 'application/x-www-form-urlencoded',
    }
    const approve = { port: scene.port, method: 'POST', path: '/commands/approve', headers }
    expect(await ask({ ...approve, body: `token=${token}` })).toMatchObject({ status: 400 })

    scene.write('Scans/broken scan.png', png(5, 5, 3).bytes)
    await expect.poll(() => page.locator('#failures').count(), SELDOM).toBe(0)
    await page.getByLabel('For how long').selectOption('8h')
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Resume')
    const { until } = (await scene.json('status')).paused
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(7 * 3_600_000)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await expect.poll(async () => (await scene.json('status')).paused, SELDOM).toBeNull()
    expect(page.complaints).toEqual([])

    // Whoever has no scripts has the same page, and the same buttons.
    const plain = await openPage(browser, scene.url, { javaScriptEnabled: false })
    await plain.getByRole('button', { name: 'Pause' }).click()
    await plain.getByRole('button', { name: 'Resume' }).waitFor()
    expect(plain.url()).toBe(scene.url)
    expect(await scene.daemon.stop()).toBe(0)
  },
  400_000,
)

it.skipIf(noBrowser)(
  'two tabs and a telephone see the same, and the page comes back with its daemon',
  async () => {
    const stage = await setPageStage()
    stage.write('one.png', png(9, 9, 1).bytes)
    const daemon = await stage.run()
    const browser = await theBrowser()
    const first = await openPage(browser, stage.url)
    const second = await openPage(browser, stage.url, {
      viewport: { width: 360, height: 640 },
      hasTouch: true,
      colorScheme: 'dark',
    })
    const shows = (page: typeof first, name: string) => () =>
      page.locator('#latest .name', { hasText: name }).count()
    for (const tab of [first, second]) await expect.poll(shows(tab, 'one.png'), SELDOM).toBe(1)
    expect(await second.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await first.getByRole('button', { name: 'Pause' }).click()
    await second.getByRole('button', { name: 'Resume' }).tap()
    for (const tab of [first, second]) {
      await tab.getByRole('button', { name: 'Pause' }).waitFor()
      await tab.locator('#commands', { hasText: 'Resuming is done' }).waitFor()
    }

    expect(await daemon.stop()).toBe(0)
    for (const tab of [first, second])
      await tab.locator('#connection', { hasText: 'does not answer' }).waitFor()
    stage.write('two.png', png(8, 8, 2).bytes)
    const again = startDaemon(stage)
    for (const tab of [first, second]) {
      await expect.poll(shows(tab, 'two.png'), SELDOM).toBe(1)
      await tab.locator('#connection').waitFor({ state: 'hidden' })
    }
    // Its buttons have the token of this start.
    await first.getByRole('button', { name: 'Pause' }).click()
    await second.getByRole('button', { name: 'Resume' }).waitFor()
    again.kill('SIGKILL')
    await first.locator('#connection', { hasText: 'does not answer' }).waitFor()
    await again.ended
  },
  300_000,
)
