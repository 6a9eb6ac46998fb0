import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  environmentIn,
  execute,
  PROGRAM,
  type Run,
  runHere,
  type Stage,
  setStage,
} from '../e2e/stage/stage.ts'
import { png } from '../pictures.ts'
import { pagesWithCommands } from './typed-commands.ts'

/*
 * The commands of albumd that the pages tell people to use. Those of a page are run in their order on one stage, with the
 * folders and addresses of that stage in place of the page's. What needs a shell has one; plain words are read in this
 * process, because there are hundreds of them.
 */

/** Commands that are run by other tests. */
const ELSEWHERE: readonly RegExp[] = [
  // test/systemd and test/cli/service.test.ts
  /^albumd service /,
  // test/shared: an account of several machines
  /^albumd trust --take-album/,
  // test/e2e/commands/move-mirror.test.ts
  /^albumd move-mirror /,
  // test/cli/completion.whole.test.ts, in fish
  /^albumd completion fish/,
  // A name in a sentence, without the operand that the command needs.
  /^albumd (trust|restore|backup|why|url|put( --to( FOLDER)?)?|move-mirror|retry --resend|deletions|host)$/,
]

/** Commands that stay until they are stopped. */
const STAYS = /^albumd (run|try|host)\b/

/** Commands that say on this stage that there is nothing to do, because nothing has failed and nothing is in doubt. */
const IN_VAIN = /^albumd (retry .*\S|deletions (approve|discard) .*\S)/

/** Each command is run once, on the first page that names it. */
const ran = new Set<string>()
const toRun = pagesWithCommands()
  .map(({ path, commands }) => ({
    path,
    commands: commands.filter(command => {
      const isNew = !ran.has(command) && !ELSEWHERE.some(pattern => pattern.test(command))
      ran.add(command)
      return isNew
    }),
  }))
  .filter(({ commands }) => commands.length > 0)

it.each(toRun)('the commands of $path do what they say', async ({ commands }) => {
  const stage = await setStage({
    pictures: { 'Holiday/Beach.jpg': png().bytes, 'Holiday/a.jpg': png().bytes },
  })
  // Pictures that were sent right after they were written are read once more by a later pass. A pass of `put` reads only
  // the pictures that it is to send, so the passes that read them again come first.
  await expect.poll(async () => (await stage.pass()).unchanged, { interval: 500 }).toBe(0)
  for (const name of ['shot.png', 'chart.png']) writeFileSync(join(stage.home, name), png().bytes)
  const shell = shellOn(stage)
  const amiss: string[] = []
  for (const command of commands) {
    const line = onStage(command, stage)
    const { code, said } = STAYS.test(command) ? await shell.start(line) : await shell.run(line)
    if (code !== (IN_VAIN.test(command) ? 2 : 0)) amiss.push(`${command}: ${code}\n${said}`)
  }
  expect(amiss.join('\n')).toBe('')
})

/** How many configs were written. As root, init writes below /etc. */
let configs = 0

/** The command with the folders, files and addresses of the stage. */
function onStage(command: string, { pictures, home, config, baseUrl }: Stage): string {
  const line = command
    .replaceAll(/\/srv\/photos|~\/Pictures(?:\/(?:Screenshots|notes))?/g, pictures)
    .replaceAll(/\b(?:PATH|FILE(?:\.png)?)(?= |$)/g, 'Holiday/Beach.jpg')
    .replaceAll(/\/etc\/albumd\/config.yaml|(?<= )albumd.yaml/g, config)
    .replaceAll(/\/mnt\/usb|\/mnt(?=\/new)|\/tmp(?=\/)/g, home)
    .replaceAll('https://images.example.com/api/v1', baseUrl)
    // The stage was filled just now.
    .replaceAll(/(?<= --at )(?:\w+|"[^"]+")/g, '0s')
  if (line.startsWith('albumd host --data')) return `${line} --listen 127.0.0.1:0`
  if (!line.startsWith('albumd init')) return line
  const written = `--config ${home}/written-${++configs}.yaml`
  const missing = [`--base-url ${baseUrl}`, `--folder ${pictures}`].filter(option => !line.includes(option))
  return [line, written, ...missing].join(' ')
}

/** Words that mean the same to every shell, each bare or between quotation marks. */
const PLAIN = /^albumd((?: (?:[\w./:=,@%+-]+|"[^"$`\\!]*"))*)$/

function shellOn(stage: Stage) {
  const [bin, cwd] = ['bin', 'desk'].map(name => join(stage.home, name)) as [string, string]
  for (const folder of [bin, cwd]) mkdirSync(folder)
  const script = (name: string, line: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  script('albumd', `exec '${process.execPath}' '${PROGRAM}' "$@"`)
  for (const name of ['wl-copy', 'xclip']) script(name, 'cat > /dev/null')
  const env = {
    ...environmentIn(stage.home),
    PATH: `${bin}:${process.env.PATH}`,
    WAYLAND_DISPLAY: 'wayland-0',
    ALBUMD_CONFIG: stage.config,
    ALBUMD_API_KEY: stage.key,
  }
  const options = { cwd, env }
  function carriedOut(line: string): Promise<Run> {
    const plain = PLAIN.exec(line)
    if (!plain) return execute('bash', ['-c', line], options)
    const words = plain[1]!.match(/"[^"]*"|\S+/g) ?? []
    return runHere(
      words.map(word => word.replaceAll('"', '')),
      cwd,
      env,
    )
  }
  return {
    async run(line: string): Promise<{ code: number; said: string }> {
      const { code, out, err } = await carriedOut(line)
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
