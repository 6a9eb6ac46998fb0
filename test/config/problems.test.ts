import { describe, expect, it } from 'vitest'
import { configText, problemsOf, SHORTEST } from './config-text.ts'

const cases: [name: string, text: string, lines: string[]][] = [
  ['an empty file', '', ['albumd.yaml: is empty. config.example.yaml shows what belongs in it']],
  ['comments alone', '# host:\n', ['albumd.yaml: is empty. config.example.yaml shows what belongs in it']],
  [
    'a word, which may be the API key',
    'sk-hunter2',
    ['albumd.yaml:1:1: must be a mapping of keys to values'],
  ],
  [
    'what must be there and is not',
    'host: {}\nmirrors:\n  - {}\n',
    [
      'albumd.yaml:1:1: host.base_url: is missing, must be an address such as https://images.example.com/api/v1',
      'albumd.yaml:3:5: mirrors[0].folder: is missing, must be the path of a folder',
      'albumd.yaml:3:5: mirrors[0].album: is missing, must be an album such as Photos or Photos/Family, or "" for the host\'s root',
    ],
  ],
  [
    'no mirror at all',
    'host: {base_url: https://images.example.com/api/v1}\nmirrors: []\n',
    ['albumd.yaml:2:1: mirrors: is empty, must name at least one folder'],
  ],
  [
    'values of another kind',
    configText({ rest: 'quota: 15m\nuploads: {order: [newest], concurrency: 8.5}\nlog: [info]\n' }),
    [
      "albumd.yaml:6:1: quota: is '15m', must be a mapping of keys to values",
      'albumd.yaml:7:11: uploads.order: is a list, must be newest or oldest',
      'albumd.yaml:7:28: uploads.concurrency: is 8.5, must be a whole number from 1 to 64',
      'albumd.yaml:8:1: log: is a list, must be a mapping of keys to values',
    ],
  ],
  [
    'an album where uploads know none',
    configText({ host: ['upload_form: presign'] }),
    [
      'albumd.yaml:6:5: mirrors[0].album: must be "" with host.upload_form presign, which knows no albums; or set host.upload_form to credential',
    ],
  ],
  [
    'keys that are nearly right',
    configText({ host: ['api_key: sk-hunter2', 'requestsPerSecond: {}'], rest: 'mirors: []\n' }),
    [
      'albumd.yaml:3:3: host.api_key: unknown key; did you mean api_key_file?',
      'albumd.yaml:4:3: host.requestsPerSecond: unknown key; did you mean requests_per_second?',
      'albumd.yaml:8:1: mirors: unknown key; did you mean mirrors?',
    ],
  ],
  [
    'keys that are like none',
    configText({ rest: 'quota: {colour: red}\n__proto__: {}\n' }),
    [
      'albumd.yaml:6:9: quota.colour: unknown key; quota has probe_every, reserve',
      'albumd.yaml:7:1: __proto__: unknown key; a config has host, account, mirrors, deletions, quota, uploads, watch, notify, status_page, picgo_server, state_dir, log',
    ],
  ],
  [
    'an unknown key with nothing after it',
    `${SHORTEST}hots:\n`,
    ['albumd.yaml:6:1: hots: unknown key; did you mean host?'],
  ],
  [
    'a key where the path of its file belongs',
    configText({ host: ['api_key_file: [sk-hunter2]'] }),
    ['albumd.yaml:3:3: host.api_key_file: must be the path of a file that holds the API key'],
  ],
  [
    'an album that YAML reads as a number',
    SHORTEST.replace('Photos', '2024'),
    [
      'albumd.yaml:5:5: mirrors[0].album: is 2024, must be an album such as Photos or Photos/Family, or "" for the host\'s root; put it in quotes',
    ],
  ],
  [
    'a slash at an end of an album',
    SHORTEST.replace('Photos', '/Photos'),
    ["albumd.yaml:5:5: mirrors[0].album: is '/Photos', must not begin or end with a slash"],
  ],
  [
    'an album without a name among others',
    SHORTEST.replace('Photos', 'Photos//Family'),
    ["albumd.yaml:5:5: mirrors[0].album: is 'Photos//Family', must not have two slashes in a row"],
  ],
  [
    'a control character in an album',
    SHORTEST.replace('Photos', '"Pho\\0tos"'),
    [expect.stringMatching(/^albumd\.yaml:5:5: mirrors\[0\]\.album: .*must hold no control characters/)],
  ],
  [
    'an album whose name is longer than the host takes',
    SHORTEST.replace('Photos', `Photos/${'x'.repeat(101)}`),
    [
      `albumd.yaml:5:5: mirrors[0].album: is 'Photos/${'x'.repeat(73)}…', must have names of at most 100 characters between its slashes`,
    ],
  ],
  [
    'what would steer a terminal',
    configText({ host: ['"\\e[2J": 1'], rest: 'log: {level: "\\e[2J\\n"}\n' }),
    [
      'albumd.yaml:3:3: host.\\u001b[2J: unknown key; host has base_url, api_key_file, plan, daily_quota, quota_reset, requests_per_second, credential_lifetime, upload_form, site_url, ca_file, timeout',
      "albumd.yaml:7:7: log.level: is '\\u001b[2J\\u000a', must be debug, info, warn or error",
    ],
  ],
  [
    'a folder in another mirror and an album in another, beside a typing error',
    `${SHORTEST}  - folder: /srv/photos/2024\n    album: Photos/2024\n    ignored: []\n`,
    [
      'albumd.yaml:6:5: mirrors[1].folder: lies in mirrors[0].folder; mirrors may not overlap',
      'albumd.yaml:7:5: mirrors[1].album: lies in mirrors[0].album; mirrors may not overlap',
      'albumd.yaml:8:5: mirrors[1].ignored: unknown key; did you mean ignore?',
    ],
  ],
  [
    'one folder written in two ways, and the root, which holds every album',
    `${SHORTEST}  - folder: /srv/x/../photos/\n    album: ""\n`,
    [
      'albumd.yaml:6:5: mirrors[1].folder: is the same as mirrors[0].folder; mirrors may not overlap',
      'albumd.yaml:7:5: mirrors[1].album: holds mirrors[0].album; mirrors may not overlap',
    ],
  ],
  [
    'a folder for editors in no mirror',
    `${SHORTEST}picgo_server: {folder: /srv/photos-2}\n`,
    ['albumd.yaml:6:16: picgo_server.folder: /srv/photos-2 lies in the folder of no mirror'],
  ],
  [
    'an address for editors without a folder',
    `${SHORTEST}picgo_server: {listen: 127.0.0.1:36677}\n`,
    ['albumd.yaml:6:1: picgo_server.folder: is missing; name a folder of a mirror'],
  ],
  [
    'a state in a mirror',
    `${SHORTEST}state_dir: /srv/photos/state\n`,
    ['albumd.yaml:4:5: mirrors[0].folder: holds state_dir (/srv/photos/state); name one outside of it'],
  ],
  [
    'a default state in a mirror',
    SHORTEST.replace('/srv/photos', '~/'),
    [
      'albumd.yaml:4:5: mirrors[0].folder: holds state_dir (/home/ann/.local/state/albumd); name one outside of it',
    ],
  ],
  [
    'a key that stands twice, of which nobody knows which one is meant',
    `${SHORTEST}quota: {}\nquota: {probe_every: soon}\n`,
    ['albumd.yaml:7:1: the key quota a second time; the first is in line 6'],
  ],
  [
    'patterns that YAML takes for something else',
    configText({ rest: '    ignore:\n      - *.tmp\n      - !keep.jpg\n      - @home\n' }),
    [
      'albumd.yaml:7:9: an alias (*) without an anchor (&); a pattern must be in quotes',
      'albumd.yaml:8:9: a YAML tag (!); a pattern must be in quotes',
      'albumd.yaml:9:9: a value that begins with this character must be in quotes',
    ],
  ],
  [
    'a pattern that is too long',
    configText({ rest: `    ignore: ["${'x'.repeat(4097)}"]\n` }),
    [
      expect.stringMatching(
        /^albumd\.yaml:6:14: mirrors\[0\]\.ignore\[0\]: .*must be a pattern of at most 4096 characters$/,
      ),
    ],
  ],
  ['a tab', 'host:\n\tplan: free\n', ['albumd.yaml:2:1: a tab; YAML is indented with spaces']],
  [
    'a line that is indented too far',
    'host:\n  plan: free\n    timeout: 60s\n',
    ['albumd.yaml:2:9: a key within a value: its line is indented too far, or the value needs quotes'],
  ],
  [
    'a second document',
    `${SHORTEST}---\n${SHORTEST}`,
    ['albumd.yaml:6:1: a second YAML document begins here; a config is one document'],
  ],
  [
    'an unfinished quote, without what it holds',
    `${SHORTEST}log: {level: "sk-hunter2\n`,
    ['albumd.yaml:7:1: not valid YAML: Missing closing "quote'],
  ],
  [
    'a list in itself',
    'mirrors: &all [*all]\n',
    [
      'albumd.yaml:1:1: host: is missing, must be a mapping of keys to values',
      'albumd.yaml:1:16: mirrors[0]: is a list, must be a mapping of keys to values',
    ],
  ],
  [
    'aliases that multiply',
    `a: &a [${'1,'.repeat(11)}]\nb: &b [${'*a,'.repeat(11)}]\nc: [${'*b,'.repeat(11)}]\n`,
    ['albumd.yaml:1:1: aliases of aliases that make too many values'],
  ],
]

describe('a config that is wrong gives one line a mistake', () => {
  it.each(cases)('for %s', (_, text, lines) => {
    expect(problemsOf(text)).toEqual(lines)
  })

  it('and a hundred lines for a text in which every line is broken', () => {
    expect(problemsOf(`${SHORTEST}${'l\n'.repeat(10_000)}`)).toHaveLength(100)
  })

  it('for what is nested deeper than the parser goes', () => {
    expect(problemsOf('['.repeat(100_000))).toEqual([
      expect.stringMatching(/^albumd.yaml:1:\d+: lists or mappings nested too deeply$/),
    ])
  })
})

describe('YAML is read as version 1.2', () => {
  it.each(['%YAML 1.1\n---\n', '%YAML 1.2\n---\n', ''])(
    'behind %j: off is a word and 22:00 no number',
    directive => {
      expect(
        problemsOf(
          `${directive}${configText({ rest: 'status_page: {listen: off}\nuploads: {hours: 22:00-07:00}\n' })}`,
        ),
      ).toEqual([])
    },
  )

  it('with anchors and aliases for what stands in several places', () => {
    const shared = `${SHORTEST}    ignore: &junk ["*.tmp"]\n  - {folder: /srv/other, album: Other, ignore: *junk}\n`
    expect(problemsOf(shared)).toEqual([])
  })

  it('with the anchor as the place of what is wrong in its alias', () => {
    const shared = `${SHORTEST}    ignore: &junk [7]\n  - {folder: /srv/other, album: Other, ignore: *junk}\n`
    const message = 'is 7, must be a pattern such as "*.tmp"; put it in quotes'
    expect(problemsOf(shared)).toEqual([
      `albumd.yaml:6:20: mirrors[0].ignore[0]: ${message}`,
      `albumd.yaml:6:20: mirrors[1].ignore[0]: ${message}`,
    ])
  })
})
