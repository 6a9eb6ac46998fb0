import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { noBrowser, openBrowser } from '../../page/browser.ts'
import { png } from '../../pictures.ts'
import { serve } from '../../remote/serve.ts'
import { localTree } from '../stage/fault-stage.ts'
import { daemonHere } from '../stage/process.ts'
import { setStage } from '../stage/stage.ts'

const run = promisify(execFile)
const has = (tool: string) => spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0
const canRun = ['Xvfb', 'scrot', 'import'].every(has) && !noBrowser

/** A display that nobody sees. Answers its name. */
async function openDisplay(): Promise<string> {
  const server: ChildProcess = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', '800x600x24', '-nolisten', 'tcp'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  )
  onTestFinished(() => void server.kill('SIGKILL'))
  const number = await new Promise<string>((resolve, reject) => {
    server.stdio[3]!.once('data', resolve)
    server.once('error', reject)
  })
  return `:${String(number).trim()}`
}

/** Serves a picture in pieces, as a slow line does. Answers its address. */
function serveSlowly(bytes: Uint8Array): Promise<string> {
  return serve(async (_, response) => {
    response.writeHead(200, {
      'content-type': 'image/png',
      'content-length': bytes.length,
      'content-disposition': 'attachment; filename="download.png"',
    })
    for (let at = 0; at < bytes.length; at += 400) {
      response.write(bytes.subarray(at, at + 400))
      await sleep(150)
    }
    response.end()
  })
}

/** The browser writes what the address delivers into a file with another name, and renames the file when it is whole. */
async function download(address: string, folder: string): Promise<void> {
  const browser = await openBrowser()
  const page = await browser.newPage()
  const devTools = await browser.newBrowserCDPSession()
  const { targetInfos } = await devTools.send('Target.getTargets')
  const browserContextId = targetInfos.find(({ type }) => type === 'page')!.browserContextId!
  // Playwright would give the file another name.
  await devTools.send('Browser.setDownloadBehavior', {
    behavior: 'allow',
    browserContextId,
    downloadPath: folder,
  })
  await expect(page.goto(address)).rejects.toThrow('Download is starting')
}

// Without a display of one's own there is nothing to take a picture of; where CI runs there must be.
it.skipIf(!canRun && !process.env.CI)(
  'what scrot, import and a browser put there is sent once, when it is whole',
  async () => {
    const stage = await setStage()
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    const display = await openDisplay()
    const env = { ...process.env, DISPLAY: display }
    await run('scrot', [join(stage.pictures, 'scrot.png')], { env })
    await run('import', ['-window', 'root', join(stage.pictures, 'import.png')], { env })
    await run('import', ['-window', 'root', join(stage.pictures, 'import.jpg')], { env })
    const address = await serveSlowly(png(60, 60, 7).bytes)
    await download(address, stage.pictures)
    await daemon.told('picture_uploaded', 4)
    expect(await daemon.stop()).toBe(0)
    expect(daemon.paths('picture_uploaded').sort()).toEqual([
      'download.png',
      'import.jpg',
      'import.png',
      'scrot.png',
    ])
    // `delivered` throws where a picture is there twice.
    expect(await stage.delivered()).toEqual(localTree(stage))
  },
)
