import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startDaemon } from '../e2e/stage/process.ts'
import { setStage } from '../e2e/stage/stage.ts'
import { freePort } from '../free-port.ts'
import { png } from '../pictures.ts'
import { serve } from '../remote/serve.ts'
import { noBrowser, openBrowser, openPage } from './browser.ts'
import { ask } from './page-stage.ts'

/** What a page can send elsewhere: with and without a preflight, from a form too. Runs in the browser. */
const TRY_ALL = `async ({ url, path }) => {
  const list = JSON.stringify({ list: [path] })
  const form = new FormData()
  form.append('files', new File(['GIF89a'], 'a.gif', { type: 'image/gif' }))
  const json = { 'content-type': 'application/json' }
  const asked = [
    ['json', { headers: json, body: list }],
    ['json without cors', { headers: json, body: list, mode: 'no-cors' }],
    ['text', { body: list, mode: 'no-cors' }],
    ['form', { body: form, mode: 'no-cors' }],
    ['nothing', { mode: 'no-cors' }],
  ]
  const read = []
  for (const [name, options] of asked) {
    const answer = await fetch(url, { method: 'POST', ...options }).catch(() => null)
    if (answer?.ok) read.push(name)
  }
  navigator.sendBeacon(url, form)
  const frame = Object.assign(document.createElement('iframe'), { name: 'frame' })
  const sent = Object.assign(document.createElement('form'), {
    action: url,
    method: 'post',
    enctype: 'multipart/form-data',
    target: 'frame',
  })
  const field = Object.assign(document.createElement('input'), { type: 'file', name: 'files' })
  const files = new DataTransfer()
  files.items.add(form.get('files'))
  field.files = files.files
  sent.append(field)
  document.body.append(frame, sent)
  sent.submit()
  await new Promise(resolve => frame.addEventListener('load', resolve, { once: true }))
  return read
}`

it.skipIf(noBrowser)("a page in a browser can't use PicGo's interface, whatever it sends", async () => {
  const port = await freePort()
  const stage = await setStage({
    config: { picgo_server: { listen: `127.0.0.1:${port}`, folder: 'pictures' } },
  })
  const path = join(stage.home, 'a.png')
  writeFileSync(path, png(3, 2).bytes)
  const daemon = startDaemon(stage)
  await expect.poll(() => ask({ port }).catch(() => null)).not.toBe(null)
  const site = await serve((_, answer) => {
    answer.setHeader('content-type', 'text/html').end('<!doctype html><title>site</title><body>')
  })
  const given = JSON.stringify({ url: `http://127.0.0.1:${port}/upload`, path })
  const browser = await openBrowser()
  // Another site, and another port of this one.
  for (const host of ['localhost', '127.0.0.1']) {
    const page = await openPage(browser, site.replace('127.0.0.1', host))
    expect(await page.evaluate(`(${TRY_ALL})(${given})`)).toEqual([])
  }
  expect(readdirSync(stage.pictures)).toEqual([])
  const body = JSON.stringify({ list: [path] })
  const headers = { 'content-type': 'application/json' }
  expect(await ask({ port, method: 'POST', path: '/upload', headers, body })).toMatchObject({ status: 200 })
  await daemon.told('picture_uploaded')
  expect(daemon.events().filter(({ event }) => event === 'asked_for')).toHaveLength(1)
  expect(await daemon.stop()).toBe(0)
})
