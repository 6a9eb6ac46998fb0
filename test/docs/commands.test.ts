import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { declaredCommands } from '../../scripts/docs/declared.ts'
import { environmentIn, execute, PROGRAM, type Stage, setStage } from '../e2e/stage/stage.ts'
import { png } from '../pictures.ts'
import { allPages, CHECKOUT, type Page } from './pages.ts'

/*
 * The commands of albumd that the pages tell people to use. Those of a page are run in their order on one stage, by a shell,
 * with the folders and addresses of that stage in place of the page's.
 */

/** The reference names usages in its text, and has examples in its code. */
const REFERENCE = 'docs/reference/commands.md'

/** Commands that are run by other tests. */
const ELSEWHERE: readonly RegExp[] = [
  // test/systemd and test/cli/service.test.ts
  /^albumd service /,
  // test/shared: an account of several machines
  /^albumd trust --take-album/,
  // test/e2e/commands/move-mirror.test.ts
  /^albumd move-mirror /,
  // A name in a sentence, without the operand that the command needs.
  /^albumd (trust|restore|backup|why|url|retry --resend|deletions|host)$/,
]

/** Commands that stay until they are stopped. */
const STAYS = /^albumd (run|try|host)(?! --readings)\b/

/** Commands that say on this stage that there is nothing to do, because nothing has failed and nothing is in doubt. */
const IN_VAIN = /^albumd (retry .*\S|accept .*[A-Z])/

const pages = allPages()
  .map(page => ({ ...page, commands: commandsOf(page) }))
  .filter(({ commands }) => commands.length > 0)

/** Each command is run once, on the first page that names it. */
const ran = new Set<string>()
const toRun = pages
  .map(({ path, commands }) => ({
    path,
    commands: commands.filter(command => {
      const isNew = !ran.has(command) && !ELSEWHERE.some(pattern => pattern.test(command))
      ran.add(command)
      return isNew
    }),
  }))
  .filter(({ commands }) => commands.length > 0)

it.each(toRun)('the commands of $path do what they say', { timeout: 300_000 }, async ({ commands }) => {
  const stage = await setStage({
    pictures: { 'Holiday/Beach.jpg': png().bytes, 'Holiday/a.jpg': png().bytes },
  })
  const shell = shellOn(stage)
  const amiss: string[] = []
  for (const command of commands) {
    const line = onStage(command, stage)
    const { code, said } = STAYS.test(command) ? await shell.start(line) : await shell.run(line)
    if (code !== (IN_VAIN.test(command) ? 2 : 0)) amiss.push(`${command}: ${code}\n${said}`)
  }
  expect(amiss.join('\n')).toBe('')
})

describe('the pages', async () => {
  const declared = await declaredCommands()
  const known = new Map(declared.flatMap(each => [each, ...each.commands]).map(each => [each.name, each]))
  const COMMON = ['config', 'c', 'log-level', 'help', 'version']

  it.each(pages)('$path names commands and options that are there', ({ commands }) => {
    const unknown = commands.filter(line => {
      const [, first = '', second = ''] = line.split(' ')
      if (first.startsWith('-')) return !COMMON.includes(first.replace(/^-+/, ''))
      const command = known.get(`${first} ${second}`) ?? known.get(first)
      const names = new Set([...COMMON, ...(command?.options.map(([name]) => name) ?? [])])
      const given = [...line.split(' -- ')[0]!.matchAll(/ --?([a-z][a-z-]*)/g)].map(([, name]) => name!)
      return command === undefined || given.some(name => !names.has(name.replace(/^no-/, '')))
    })
    expect(unknown).toEqual([])
  })

  it('name scripts and tests that are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'))
    const text = allPages()
      .map(page => page.text)
      .join('\n')
    const names = [...text.matchAll(/\bnpm run (?:--silent )?([\w-]+)/g)].map(([, name]) => name!)
    expect(names.filter(name => !(name in scripts))).toEqual([])
    const tests = [...text.matchAll(/vitest run (test\/\S+?)[`\s]/g)].map(([, path]) => path!)
    expect(tests.length).toBeGreaterThan(2)
    expect(tests.filter(path => !existsSync(join(CHECKOUT, path)))).toEqual([])
  })
})

/** What a page has people type of albumd, without `sudo`, in the page's order, each once. */
function commandsOf({ path, text }: Page): string[] {
  const fences = /^ *```(\w*)\n([\s\S]*?)^ *```$/gm
  const lines: string[] = []
  let end = 0
  const takeProse = (until: number) => {
    const part = text.slice(end, until)
    if (path !== REFERENCE)
      lines.push(...[...part.matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replace(/\s+/g, ' ')))
  }
  for (const fence of text.matchAll(fences)) {
    takeProse(fence.index)
    end = fence.index + fence[0].length
    if (fence[1] === 'sh') lines.push(...fence[2]!.split('\n').map(line => line.replace(/\s+#.*$/, '')))
  }
  takeProse(text.length)
  const commands = lines
    .flatMap(line => line.split(' && '))
    .map(
      line =>
        /^(?:ALBUMD_API_KEY=\S+ |sudo (?:-u albumd )?|source <\()?(albumd [^)]+)/.exec(line.trim())?.[1],
    )
  return [...new Set(commands.filter(command => command !== undefined))]
}

/** How many configs were written. As root, init writes below /etc. */
let configs = 0

/** The command with the folders, files and addresses of the stage. */
function onStage(command: string, { pictures, home, config, baseUrl }: Stage): string {
  const line = command
    .replaceAll(/\/srv\/photos|~\/Pictures(?:\/Screenshots)?/g, pictures)
    .replaceAll(/\b(?:PATH|FILE(?:\.png)?)(?= |$)/g, 'Holiday/Beach.jpg')
    .replaceAll(/\/etc\/albumd\/config.yaml|(?<= )albumd.yaml/g, config)
    .replaceAll(/\/mnt\/usb|\/mnt(?=\/new)|\/tmp(?=\/back)/g, home)
    .replaceAll('https://images.example.com/api/v1', baseUrl)
  if (line.startsWith('albumd host --data')) return `${line} --listen 127.0.0.1:0`
  if (!line.startsWith('albumd init')) return line
  const written = `--config ${home}/written-${++configs}.yaml`
  const missing = [`--base-url ${baseUrl}`, `--folder ${pictures}`].filter(option => !line.includes(option))
  return [line, written, ...missing].join(' ')
}

function shellOn(stage: Stage) {
  const [bin, cwd] = ['bin', 'desk'].map(name => join(stage.home, name)) as [string, string]
  for (const folder of [bin, cwd]) mkdirSync(folder)
  const script = (name: string, line: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  script('albumd', `exec '${process.execPath}' '${PROGRAM}' "$@"`)
  script('wl-copy', 'cat > /dev/null')
  const env = {
    ...environmentIn(stage.home),
    PATH: `${bin}:${process.env.PATH}`,
    WAYLAND_DISPLAY: 'wayland-0',
    ALBUMD_CONFIG: stage.config,
    ALBUMD_API_KEY: stage.key,
  }
  const options = { cwd, env }
  return {
    async run(line: string): Promise<{ code: number; said: string }> {
      const { code, out, err } = await execute('bash', ['-c', line], options)
      return { code, said: out + err }
    },
    /** Starts what stays, waits until it says something, and stops it. */
    async start(line: string): Promise<{ code: number; said: string }> {
      const child: ChildProcess = spawn('bash', ['-c', `exec ${line}`], options)
      onTestFinished(() => void child.kill('SIGKILL'))
      const ended = once(child, 'exit')
      let said = ''
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', chunk => {
          said += chunk
        })
      await Promise.race([once(child.stdout!, 'data'), ended])
      child.kill('SIGTERM')
      const [code] = await ended
      return { code, said }
    },
  }
}
