import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('names the limit that is met: the one of watchers, or the one of open files', () => {
  const script = `
    import { openSync } from 'node:fs'
    import { lossOf } from ${JSON.stringify(join(import.meta.dirname, '../../src/local/folder-watcher.ts'))}
    import { inWords } from ${JSON.stringify(join(import.meta.dirname, '../../src/words/reasons.ts'))}
    const told = () => inWords(lossOf(Object.assign(new Error(), { code: 'EMFILE' }), '/srv/a').remedy)
    const first = told()
    try { for (;;) openSync('/dev/null') } catch {}
    process.stdout.write(JSON.stringify([first, told()]))`
  const limited = 'ulimit -n 200; exec "$0" --input-type=module --eval "$1"'
  const told = JSON.parse(execFileSync('sh', ['-c', limited, process.execPath, script]).toString())
  expect(told).toEqual([
    expect.stringContaining('fs.inotify.max_user_instances'),
    expect.stringContaining('ulimit -n'),
  ])
})
