import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { png } from '../../pictures.ts'
import { startAlbumd, startDaemon } from '../stage/process.ts'
import { setStage, sha256 } from '../stage/stage.ts'

const EXAMPLES = join(import.meta.dirname, '../../../examples')

it('has a screenshot in the clipboard and on a page once it is uploaded, and no key in their environment', async () => {
  const stage = await setStage()
  const bin = join(stage.home, 'bin')
  const clipboard = join(stage.home, 'clipboard')
  const seen = join(stage.home, 'environment')
  mkdirSync(bin)
  // The desktop's tools, as far as a machine without a desktop can have them.
  writeFileSync(
    join(bin, 'xclip'),
    `#!/bin/sh\nenv > '${seen}'\ncat > '${clipboard}.new' && mv '${clipboard}.new' '${clipboard}'\n`,
  )
  writeFileSync(join(bin, 'notify-send'), '#!/bin/sh\n')
  for (const tool of ['xclip', 'notify-send']) chmodSync(join(bin, tool), 0o755)
  const page = join(stage.home, 'uploads.html')
  const command = `'${EXAMPLES}/link-page/add-to-page.sh' '${page}' && '${EXAMPLES}/screenshot-link/copy-link.sh'`
  stage.configure({ notify: { on_upload: command } })
  const daemon = startDaemon(stage, [], {
    PATH: `${bin}:${process.env.PATH}`,
    DISPLAY: ':7',
    WAYLAND_DISPLAY: '',
    ALBUMD_API_KEY: stage.key,
  })
  await daemon.told('scan_finished')
  const { bytes } = png(5, 5)
  stage.write('sub/Shot <b>&"1\'.png', bytes)
  const { cdn_url } = await daemon.told('picture_uploaded')
  await expect.poll(() => existsSync(clipboard) && readFileSync(clipboard, 'utf8')).toBe(cdn_url)
  const given = await fetch(String(cdn_url))
  expect(sha256(new Uint8Array(await given.arrayBuffer()))).toBe(sha256(bytes))

  const environment = readFileSync(seen, 'utf8')
  expect(environment).toMatch(/^ALBUMD_ID=./m)
  expect(environment).toMatch(/^ALBUMD_ALBUM=Photos\/sub$/m)
  expect(environment).toContain(`ALBUMD_PATH=${stage.pictures}/sub/Shot <b>&"1'.png`)
  expect(environment).not.toContain(stage.key)
  expect(readFileSync(page, 'utf8').split('\n')).toEqual([
    expect.stringContaining('<!doctype html>'),
    expect.stringMatching(
      /<a href="http[^"]+">.*alt="Shot &lt;b&gt;&amp;&quot;1&#39;\.png".*Photos\/sub\/Shot &lt;b/,
    ),
    '',
  ])

  // One that fails stops nothing, and is logged.
  stage.configure({ notify: { on_upload: 'echo no such door >&2; exit 4' } })
  daemon.kill('SIGHUP')
  await daemon.told('config_taken')
  stage.write('second.png', png(6, 5).bytes)
  expect(await daemon.told('upload_command_failed')).toMatchObject({
    path: 'second.png',
    message: 'it ended with 4 and said "no such door"',
  })
  const failure = async () => (await stage.status()).upload_command_failed
  await expect.poll(failure).toMatch(/second\.png: .*no such door/)
  expect((await stage.here('doctor')).out).toMatch(
    /^warn {2}on upload .*it ended with 4 and said .*no such door.*\n.*Mend it/m,
  )
  stage.configure({ notify: { on_upload: 'true' } })
  daemon.kill('SIGHUP')
  await daemon.told('config_taken', 2)
  stage.write('third.png', png(7, 5).bytes)
  await expect.poll(failure).toBeNull()

  const [go, goOn] = [join(stage.home, 'go'), join(stage.home, 'go-on')]
  // What waits for a command that hangs runs the mended one.
  stage.configure({ notify: { on_upload: `until [ -e '${go}' ]; do sleep 0.1; done; exit 4` } })
  daemon.kill('SIGHUP')
  await daemon.told('config_taken', 3)
  for (const n of [1, 2, 3]) stage.write(`${n}.png`, png(n, 8).bytes)
  await daemon.told('picture_uploaded', 6)
  stage.configure({ notify: { on_upload: `until [ -e '${goOn}' ]; do sleep 0.1; done` } })
  daemon.kill('SIGHUP')
  await daemon.told('config_taken', 4)
  writeFileSync(go, '')
  await expect.poll(failure).toMatch(/: it ended with 4$/)
  writeFileSync(goOn, '')
  await expect.poll(failure).toBeNull()

  // One that is taken out of the config has nothing to mend.
  stage.configure({ notify: { on_upload: 'exit 4' } })
  daemon.kill('SIGHUP')
  await daemon.told('config_taken', 5)
  stage.write('last.png', png(8, 8).bytes)
  await expect.poll(failure).toMatch(/^last\.png: it ended with 4$/)
  stage.configure({ notify: {} })
  daemon.kill('SIGHUP')
  await expect.poll(failure).toBeNull()
  expect(await daemon.stop()).toBe(0)
})

it('runs for what sync uploads by itself, in order and to its end, and tells what went wrong once', async () => {
  const stage = await setStage({ config: { notify: { on_upload: 'echo "$ALBUMD_PATH" >> seen' } } })
  for (const n of [1, 2, 3]) stage.write(`${n}.png`, png(n, 2).bytes)
  const { code, out, err } = await stage.here('sync')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const order = [...out.matchAll(/^uploaded (\S+)/gm)].map(([, path]) => `${stage.pictures}/${path}`)
  expect(order).toHaveLength(3)
  expect(readFileSync(join(stage.home, 'seen'), 'utf8').trimEnd().split('\n')).toEqual(order)

  stage.configure({ notify: { on_upload: 'echo no such door >&2; exit 4' } })
  for (const n of [4, 5]) stage.write(`${n}.png`, png(n, 2).bytes)
  const failing = await stage.here('sync')
  expect(failing.code).toBe(0)
  expect(failing.err).toMatch(
    /^albumd: notify\.on_upload \([45]\.png\): it ended with 4 and said "no such door"\nalbumd: notify\.on_upload: it failed in the same way for 1 more picture\n$/,
  )

  // Other commands of albumd have the state while the command goes on.
  stage.configure({ notify: { on_upload: 'touch begun; until [ -e go ]; do sleep 0.1; done; exit 3' } })
  stage.write('7.png', png(7, 2).bytes)
  const put = startAlbumd(stage, ['put', 'pictures/7.png', '--json'])
  await expect.poll(() => existsSync(join(stage.home, 'begun'))).toBe(true)
  expect(await stage.here('resume')).toMatchObject({ code: 0 })
  writeFileSync(join(stage.home, 'go'), '')
  expect(await put.ended).toMatchObject({ code: 0 })
  expect(put.err()).toContain('it ended with 3')
  expect(JSON.parse(put.out()).pictures).toMatchObject([{ path: `${stage.pictures}/7.png`, code: null }])
})

it('runs for a picture that has the address of an earlier version again', async () => {
  const pictures = { 'other.png': png(4, 5).bytes }
  const stage = await setStage({ pictures })
  stage.configure({
    mirrors: [{ folder: 'pictures', album: 'Photos', deletions: 'keep' }],
    notify: { on_upload: 'echo "$ALBUMD_URL" >> seen' },
  })
  const send = async (bytes: Uint8Array) => {
    stage.write('latest.png', bytes)
    return (await stage.here('put', 'pictures/latest.png')).out.trim()
  }
  const [first, second] = [png(5, 5).bytes, png(6, 5).bytes]
  const given = [await send(first), await send(second), await send(first)]
  expect(given[2]).toBe(given[0])
  rmSync(join(stage.pictures, 'latest.png'))
  await stage.here('sync')
  given.push(await send(first))
  // The same bytes again have the address that they had.
  await send(first)
  expect(readFileSync(join(stage.home, 'seen'), 'utf8').trimEnd().split('\n')).toEqual(given)
})

it.each(['screenshot-link', 'link-page'])('has an example %s whose config is right', example => {
  const config = loadConfig(join(EXAMPLES, example, 'albumd.yaml'), { HOME: '/home/me' })
  expect(config.notify.on_upload).toMatch(/\.sh/)
})
