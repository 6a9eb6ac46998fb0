import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, onTestFinished } from 'vitest'

/** Where systems have the browser. The browser without windows takes half of the CPU, so it is the first. */
const PLACES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** The browser, or null where this machine has none. */
const findBrowser = () =>
  [process.env.CHROMIUM ?? '', ...PLACES.map(name => `/usr/bin/${name}`)].find(existsSync) ?? null

/** Without a browser these tests are left out; where everything is tested, that is a failure. */
export const noBrowser = findBrowser() === null && !process.env.CI

export async function openBrowser(): Promise<Browser> {
  const browser = await launch()
  onTestFinished(() => browser.close())
  return browser
}

/** One browser for all tests of a file. Each has pages of its own there, which are closed with the test. */
export function browserOfFile(): () => Promise<Browser> {
  let browser: Promise<Browser> | null = null
  afterAll(async () => (await browser)?.close())
  return () => (browser ??= launch())
}

async function launch(): Promise<Browser> {
  const executablePath = findBrowser()
  if (executablePath === null) throw new Error('no chromium: install it, or name it in CHROMIUM')
  const args = ['--disable-dev-shm-usage', '--disable-gpu']
  return chromium.launch({
    executablePath,
    // As root it does not start in its sandbox.
    chromiumSandbox: process.getuid?.() !== 0,
    args,
    timeout: 60_000,
  })
}

/** A page, and all that its browser complains of. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Page & { complaints: string[] }> {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(45_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('dialog', dialog => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(url)
  return Object.assign(page, { complaints })
}
