import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { startDaemon } from '../e2e/stage/process.ts'
import { setStage } from '../e2e/stage/stage.ts'
import { serve, serveRaw } from '../remote/serve.ts'
import { CHECKOUT } from './pages.ts'

const LOGIN = Buffer.from('\0me\0secret').toString('base64')

/** Talks as a mail server that wants a login. `told` gets all that a client says. */
function asMailServer(told: (line: string) => void): (client: Socket) => void {
  return client => {
    let isMail = false
    let rest = ''
    client.write('220 here\r\n')
    client.on('data', data => {
      const lines = (rest + data).split('\r\n')
      rest = lines.pop()!
      for (const line of lines) {
        told(line)
        if (isMail && line !== '.') continue
        isMail = line === 'DATA'
        const [verb] = line.split(' ')
        const answer = {
          EHLO: '250-here\r\n250 AUTH PLAIN',
          AUTH: '334 ',
          DATA: '354 go on',
          QUIT: '221 bye',
          [LOGIN]: '235 in',
        }
        client.write(`${answer[verb as keyof typeof answer] ?? '250 well'}\r\n`)
      }
    })
  }
}

/** Where everything is tested, a missing curl is a failure. */
const noCurl = spawnSync('curl', ['--version']).error !== undefined && !process.env.CI

it.skipIf(noCurl)('the commands of be-told.md tell a telephone, a mailbox and a desktop', async () => {
  const page = readFileSync(join(CHECKOUT, 'docs/how-to/be-told.md'), 'utf8')
  const commands = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => parse(yaml!).notify.on_trouble)
  const stage = await setStage()
  const telephone: { request: IncomingMessage; body: string }[] = []
  const ntfy = await serve(async (request, response) => {
    telephone.push({ request, body: await text(request) })
    response.end()
  })
  const said: string[] = []
  const mail = await serveRaw(asMailServer(line => said.push(line)))
  const bin = join(stage.home, 'bin')
  const desktop = join(stage.home, 'desktop')
  mkdirSync(bin)
  writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${desktop}'\n`)
  chmodSync(join(bin, 'notify-send'), 0o755)
  writeFileSync(join(stage.home, '.netrc'), 'machine 127.0.0.1 login me password secret\n')
  const here = (command: string) =>
    command
      .replace('https://ntfy.sh', ntfy)
      .replace('smtps://mail.example.com', mail.replace('http:', 'smtp:'))
  expect(commands).toHaveLength(3)
  stage.configure({ notify: { on_trouble: commands.map(here).join(' && ') } })
  stage.write('@a "b" ä.png', 'no picture')
  const daemon = startDaemon(stage, [], { PATH: `${bin}:${process.env.PATH}` })
  const { message } = await daemon.told('picture_failed')
  const told = `@a "b" ä.png: ${message}`

  await expect
    .poll(() => telephone[0])
    .toMatchObject({
      request: { url: '/YOUR-TOPIC', headers: { title: 'albumd: trouble' } },
      body: told,
    })
  await expect.poll(() => said).toContain('QUIT')
  expect(said).toContain(LOGIN)
  expect(said).toContain('RCPT TO:<you@example.com>')
  expect(said.slice(said.indexOf('DATA') + 1, said.indexOf('.'))).toEqual([
    'To: you@example.com',
    'Subject: albumd: trouble',
    'Content-Type: text/plain; charset=utf-8',
    '',
    told,
  ])
  await expect.poll(() => readFileSync(desktop, 'utf8')).toBe(`albumd: trouble\n${told}\n`)
  expect(await daemon.stop()).toBe(0)
  expect(daemon.paths('trouble_command_failed')).toEqual([])
})
