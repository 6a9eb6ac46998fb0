import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from '@swc/core'
import { expect, it } from 'vitest'
import {
  because,
  CODES,
  commandOf,
  factOf,
  inWords,
  type Reason,
  type ReasonCode,
} from '../../src/words/reasons.ts'

/** The most characters of a message, without what is known only when it is said. */
const LONGEST = 200

const POINTS_BACK = /^(?:it|its|that|those|they|these|this is|which|one)\b/i

/** What is wrong with a message to a person, as far as a machine can tell: at most two sentences, what is so and what to do;
 * none begins with a word that points back, because a log shows the line alone; a sentence begins with a capital when
 * another follows. `words`: the message, as it is said. */
function faultsIn(words: string): string[] {
  const sentences = words.split(/(?<=[.?!]) +(?=[^a-z])/)
  const [first = ''] = sentences
  const faults = [
    [words.length > LONGEST, `over ${LONGEST} characters`],
    [sentences.length > 2, 'over two sentences'],
    [words.split('; ').length > 2, 'several semicolons'],
    [words.split(': ').length > 2, 'several colons'],
    [sentences.some(sentence => POINTS_BACK.test(sentence.replace(/^\S+: /, ''))), 'points back'],
    [
      sentences.length > 1 && /^[a-z]+ /.test(first) && !/^(?:albumd|systemd|host\.)/.test(first),
      'begins small',
    ],
    [/\bneeds? you\b/i.test(words), 'asks for a person'],
  ] as const
  return faults.flatMap(([isWrong, fault]) => (isWrong ? [fault] : []))
}

/** Facts for every text. A text takes those that it names. */
const FACTS = {
  until: 0,
  words: 'EIO',
  why: because('in_use'),
  before: because('new'),
  now: because('gone'),
  message: because('paused'),
  where: 'images.example.com:443',
  code: 'ECONNREFUSED',
  path: '/srv/photos/a.png',
  folder: '/srv/photos',
  name: 'Photos',
  of: 'image',
  at: null,
  field: 'cdn_url',
  plan: 'professional',
  missing: 'the end marker',
  ms: 1000,
  lifetimeMs: 600_000,
  images: 2,
  minutes: 3,
  said: 'READONLY',
  mirrors: [{ folder: '/srv/photos' }, { folder: '/srv/scans' }],
}

/** Facts that decide the text, for the texts that are functions. */
const DECIDING: { [code in ReasonCode]?: readonly object[] } = {
  answer_misfits: [{ field: undefined }, {}],
  folder_unmounted: [{ below: null }, { below: 'usb' }],
  differs: [{ differences: [because('size_differs', { listed: 1, size: 2 })] }],
  in_sync_flat: [{ album: '' }, { album: 'Photos' }],
  folder_gone: [
    { waiting: 1, held: 2, kept: 4, deleted: 3, moved: 0, moved_to: null },
    { waiting: 2, held: 0, kept: 0, deleted: 0, moved: 2, moved_to: 'Tour' },
  ],
  rule_ignores: [{ rule: { file: null, pattern: '*.tmp', line: 1 } }],
  other_format: [{ extension: '.heic', known: ['png', 'jpg'] }],
  will_be_uploaded: [{ ahead: 0 }, { ahead: 3 }],
  sent_before_loss: [{ until: null }, { until: 0 }],
  records_gap: [
    { from: '2026-11-21T16:00:00.000Z', to: null },
    { from: '2026-11-21T16:00:00.000Z', to: '2026-11-21T17:00:00.000Z' },
  ],
  paused_until: [{ until: null }, { until: 0 }],
  album_taken: [{ seen: 0 }],
  approve: [{ images: 1 }, { images: 2 }],
  end_grace: [{ images: 1 }, { images: 2 }],
  keep: [{ images: 1 }, { images: 2 }],
  image_held: [{ held: 'held' }, { held: 'unproved' }],
  deletions_wait: [{ deletions: 1 }, { deletions: 2 }],
  many_deletions: [
    { deletions: 1, folders: { named: ['a', ''], others: 0 }, ms: null },
    { deletions: 2, folders: { named: ['a'], others: 2 }, until: null, ms: 1 },
  ],
  looked_for_again: [{ until: null }, { until: 0 }],
  backlog_takes: [
    { pictures: 9, today: 9, ms: 90_000, nextDay: null },
    { pictures: 9, today: 0, nextDay: null, perDay: 4500, kept: 500 },
    { pictures: 99_999, today: 5000, nextDay: '2026-11-21T16:00:00.000Z', perDay: 4500, kept: 500 },
  ],
  folders_polled: [{ polled: ['/srv/a', '/srv/b'] }],
  events_lost: [{ key: 'max_queued_events' }],
  watch_limit_reached: [{ key: 'max_user_watches' }],
}

/** Reasons that are always a whole line, and a command, or what the host said, follows the colon. */
const ALONE: ReadonlySet<ReasonCode> = new Set([
  'events_lost',
  'watch_limit_reached',
  'key_refused',
  'host_away',
  'endpoint_blocked',
  'backlog_takes',
])

it.each(CODES)('the words of the reason %s are plain', code => {
  for (const deciding of DECIDING[code] ?? [{}]) {
    const words = inWords(because(code as 'at_path', { ...FACTS, ...deciding }))
    expect(faultsIn(words), words).toEqual([])
    // Most lines name what they are about before a colon, and the reason follows.
    if (!ALONE.has(code)) expect(words).not.toContain(': ')
  }
})

it.each(CODES)('the reason %s has words and a command too when its facts are not recorded', code => {
  const old = JSON.stringify([code]) as unknown as Reason
  for (const say of [inWords, factOf, commandOf]) expect(`${say(old) ?? ''}`).not.toMatch(/undefined|null|\{/)
})

const SRC = join(import.meta.dirname, '../../src')

/** Which arguments of these constructors and functions are messages to people. */
const MESSAGES = new Map<string, readonly number[]>([
  ['Problem', [0]],
  ['NotPossible', [0]],
  ['LockedError', [0]],
  ['Refused', [1]],
  ['StateError', [1]],
  ['PictureProblem', [1]],
  ['refuse', [0, 1]],
  ['refusal', [0, 1]],
  ['pass', [1]],
  ['warn', [1, 2]],
  ['fail', [1, 2]],
  ['alert', [1]],
  ['sayAside', [0]],
])

/** A node of swc's tree, as far as this test looks at it. */
interface Node {
  type?: string
  value?: unknown
  [part: string]: unknown
}

/** What stands for a part of a message that is known only when it is said. */
const SHOWN = '…'

/** The texts that an expression may be. Empty where nobody can tell from the expression alone. */
function textsOf(node: Node): string[] {
  const part = (name: string) => textsOf(node[name] as Node)
  switch (node.type) {
    case 'StringLiteral':
      return [String(node.value)]
    case 'ParenthesisExpression':
      return part('expression')
    case 'ConditionalExpression':
      return [...part('consequent'), ...part('alternate')]
    case 'BinaryExpression':
      return part('left').flatMap(left => part('right').map(right => left + right))
    case 'TemplateLiteral': {
      const [first, ...quasis] = (node.quasis as { cooked: string }[]).map(({ cooked }) => cooked)
      const inside = (node.expressions as Node[]).map(textsOf)
      return quasis.reduce(
        (texts, after, at) => {
          const shown = inside[at]!.length > 0 ? inside[at]! : [SHOWN]
          return texts.flatMap(text => shown.map(each => text + each + after))
        },
        [first!],
      )
    }
    default:
      return []
  }
}

function* nodesIn(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Node
  for (const part of Object.values(value)) yield* nodesIn(part)
}

function* messagesIn(code: string): Generator<string> {
  for (const node of nodesIn(parseSync(code, { syntax: 'typescript' }))) {
    if (node.type !== 'NewExpression' && node.type !== 'CallExpression') continue
    const called = String((node.callee as Node).value)
    const given = node.arguments as { expression: Node }[] | undefined
    for (const at of MESSAGES.get(called) ?? []) if (given?.[at]) yield* textsOf(given[at].expression)
  }
}

it('messages of errors, findings and alerts are plain words', () => {
  const names = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
  const messages = names.flatMap(name => [...messagesIn(readFileSync(join(SRC, name), 'utf8'))])
  expect(messages.length).toBeGreaterThan(200)
  const faulty = messages.flatMap(message => faultsIn(message).map(fault => `${fault}: ${message}`))
  expect(faulty).toEqual([])
})
