import { isUtf8 } from 'node:buffer'
import { ConfigError } from '../../../src/config/config-error.ts'
import { configExample } from '../../../src/config/example.ts'
import { parseConfig } from '../../../src/config/load-config.ts'
import { compileRules, hidingRule } from '../../../src/local/ignore-rules.ts'
import { ALBUM_NAME_MAX } from '../../../src/protocol/limits.ts'
import { deliveryAddress, parseAddress, wholeAddress } from '../../../src/remote/http/address.ts'
import { oneLine, secretsOfAddress, showsCredential } from '../../../src/remote/secrets.ts'
import { multipartOf } from '../../../src/remote/uploads.ts'
import { albumNameOf, albumPathOf } from '../../../src/sync/album.ts'
import { plainName } from '../../../src/sync/listing/index.ts'
import { printable, shellWord } from '../../../src/words/text.ts'
import { SHORTEST } from '../../config/config-text.ts'
import { must, type Target } from './target.ts'

/** Configs: each is taken, or refused with the mistakes that are in it. */
export const configs: Target = {
  isText: true,
  // As long as the longest config that is read.
  most: 2 ** 16,
  // biome-ignore format: a list.
  words: [
    '&a', '*a', '!x', '!!binary', '|', '>', '-', '?', ':', '{', '}', '[', ']', '"', "'", '#', '%YAML 1.1',
    '---', '...', '<<: *a', '\t', '~', 'null', '1e400', '0x10', '.nan', '1h', '25%', '2MB/s', '22:00-07:00',
    'off', '/', '00:00 Asia/Shanghai', '* * * * *', '*/0 * * * *', '[::1]:8687', 'https://x@y/', '\ufeff',
    '\u202e', '\0',
  ],
  seeds: () => [
    Buffer.from(SHORTEST),
    Buffer.from(
      configExample()
        .replace(/^( *)#(?=\w)/gm, '$1')
        .replace(/^ *#.*\n/gm, ''),
    ),
    Buffer.from('a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nmirrors: *c\n'),
  ],
  read(input) {
    if (!isUtf8(input)) return
    try {
      parseConfig(input.toString('utf8'), { file: 'albumd.yaml', env: { HOME: '/home/ann' } })
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      must(error.problems.length > 0, 'a refused config has a mistake')
      for (const line of error.message.split('\n'))
        must(printable(line) === line, 'a mistake is a line of text')
    }
  },
}

/** Ignore rules: the path, a line end, and the rules of the folder above and of the root. */
export const rules: Target = {
  isText: true,
  most: 16 * 1024,
  // biome-ignore format: a list.
  words: [
    '*', '**', '?', '/', '!', '\\', '[', ']', '[!a]', '[^a-z]', '[[:alpha:]]', '(', ')', '{', '}', '+', '$',
    '^', '.', '|', ' ', '\\ ', '\r', '#', '**/', '/**', '*a*', '*.png', 'a', 'b', '\ufeff', 'é', '[z-a]',
    '[\\]]', '@eaDir',
  ],
  seeds: () =>
    [
      'F1/a b/IMG_1.png\n*.tmp\n/F1/\n!a b/**\n#x\n\n',
      'a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.png\n*a*b\n**/a/[a-z]*\n',
      'x/@eaDir/y\n!@eaDir/\nx/\\!y\n[[:digit:]]\n',
    ].map(text => Buffer.from(text)),
  read(input) {
    const [path = '', ...lines] = input.toString('utf8').split('\n')
    if (!isPath(path)) return
    const [base] = path.split('/') as [string]
    const text = lines.join('\n')
    for (const chain of [
      [{ base: '', text }],
      [
        { base: '', text },
        { base, text },
      ],
    ])
      for (const kind of ['file', 'folder'] as const)
        if (compileRules(chain).hides(path, kind) !== (hidingRule(chain, path, kind) !== null))
          must(false, 'the rule that hides a path is told')
  },
}

/** A path as the scanner makes them of names. */
function isPath(path: string): boolean {
  const isName = (name: string) => Buffer.byteLength(name) < 256 && !['', '.', '..'].includes(name)
  return (
    Buffer.byteLength(path) < 4096 &&
    path.isWellFormed() &&
    !path.includes('\0') &&
    path.split('/').every(isName)
  )
}

/** Names and addresses: what becomes of them in albums, requests, commands and lines. */
export const names: Target = {
  isText: true,
  most: 64 * 1024,
  // biome-ignore format: a list.
  words: [
    '/', '~', '..', '.', ' ', '\n', '\r', '"', "'", '\\', '%00', '%', '\0', '\u202e', '\u009b', '\ufeff',
    '👩‍👩‍👧', 'e\u0301', '~0123456789abcdef', 'x'.repeat(100), 'http://', 'https://', '//', '@', '?', '#',
    '[::1]', ':0', ':99999', '127.0.0.1',
  ],
  seeds: () =>
    [
      'Früher Morgen.jpg',
      'a/b c/d.png',
      `${'x'.repeat(99)}😀`,
      'https://host.example:8443/i/1?x=y',
      '//h/p',
      'p?q',
    ].map(text => Buffer.from(text)),
  read(input) {
    const text = input.toString('utf8')
    if (text !== '' && !text.includes('/')) {
      const album = albumNameOf(text)
      must(
        album.length <= ALBUM_NAME_MAX && album.length > 0,
        'an album has a name of at most 100 characters',
      )
      must(!text.isWellFormed() || album.isWellFormed(), 'an album name has whole characters')
      must(albumNameOf(album) !== album || album === text, 'two folders have two albums')
    }
    must(
      albumPathOf('', text).every(name => name.length <= ALBUM_NAME_MAX),
      'each name of an album path fits',
    )
    must(plainName(plainName(text)) === plainName(text), 'a plain name stays as it is')
    must(printable(printable(text)) === printable(text), 'printable text stays as it is')
    must(/^(?:[\w./-]+|'.*')$/s.test(shellWord(text)), 'a word for a shell is quoted')
    must(!/[\r\n]/.test(oneLine(text, ['secret'])), 'one line is one line')
    checkAddress(text)
    const part = multipartOf({ fileName: text, mime: 'image/png', size: 0, async *chunks() {} })
    must(part.length > 0, 'a form has a length')
  },
}

const BASE = parseAddress('https://host.example/api/v1')!

function checkAddress(text: string): void {
  for (const given of [text, wholeAddress(text, BASE)]) {
    const delivered = deliveryAddress(given, BASE)
    if (delivered === null) continue
    must(/^https:[!-~]+$/i.test(delivered), 'a delivery address can be sent')
    must(parseAddress(delivered)?.secure === true, 'a delivery address is an address')
    secretsOfAddress(delivered)
    showsCredential(text, delivered)
  }
}
