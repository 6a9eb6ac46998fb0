import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { png } from '../pictures.ts'
import { noBrowser, openBrowser, openPage } from './browser.ts'
import { setPageStage } from './page-stage.ts'

interface Stream {
  status: number
  /** Waits for the first of its events that shows the page's parts. */
  parts(): Promise<void>
  close(): void
}

function openStream(port: number): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<Stream>()
  const asked: ClientRequest = request({ host: '127.0.0.1', port, path: '/events', agent: false })
  asked.on('response', (answer: IncomingMessage) => {
    let text = ''
    answer.setEncoding('utf8')
    answer.on('data', chunk => {
      text += chunk
    })
    answer.on('error', () => {})
    resolve({
      status: answer.statusCode!,
      parts: () => expect.poll(() => text).toContain('event: parts\n'),
      close: () => void asked.destroy(),
    })
  })
  asked.on('error', reject)
  asked.end()
  onTestFinished(() => void asked.destroy())
  return promise
}

it('tells a hundred at a time, refuses more, and has room again for each that goes', async () => {
  const stage = await setPageStage()
  const daemon = await stage.run()
  const streams = await Promise.all(Array.from({ length: 100 }, () => openStream(stage.port)))
  expect(streams.map(({ status }) => status)).toEqual(Array(100).fill(200))
  await Promise.all(streams.map(stream => stream.parts()))
  expect(await openStream(stage.port)).toMatchObject({ status: 503 })
  // All others get their answers.
  expect((await fetch(stage.url)).status).toBe(200)
  streams[0]!.close()
  await expect.poll(async () => (await openStream(stage.port)).status, { interval: 500 }).toBe(200)
  expect(await daemon.stop()).toBe(0)
})

it.skipIf(noBrowser)(
  'ten tabs of one browser are told the news, whichever of them is closed',
  async () => {
    const stage = await setPageStage()
    const daemon = await stage.run()
    const first = await openPage(await openBrowser(), stage.url)
    const tabs = [first]
    while (tabs.length < 10) {
      const page = await first.context().newPage()
      await page.goto(stage.url)
      tabs.push(Object.assign(page, { complaints: [] }))
    }
    const shows = (tab: typeof first, name: string) => () =>
      tab.locator('#latest .name', { hasText: name }).count()
    for (const name of ['one.png', 'two.png', 'three.png']) {
      stage.write(name, png(9, 9, name.length).bytes)
      for (const tab of tabs) await expect.poll(shows(tab, name), { interval: 250, message: name }).toBe(1)
      await tabs.shift()!.close()
    }
    // The tab that listens now finds out that the daemon has ended, and tells the others.
    expect(await daemon.stop()).toBe(0)
    for (const tab of tabs) await tab.locator('#connection', { hasText: 'does not answer' }).waitFor()
  },
  240_000,
)
