import { REASON_WORDS } from './reason-words.ts'
import { COMMANDS, STATE_WORDS } from './state-words.ts'
import { CONNECTION_ERRORS, certificateFault, readRemedy } from './system-errors.ts'
import { count, inDigits, localTime, shellWord, spanInWords } from './text.ts'

/** Not made by spreading: with hundreds of properties, that takes V8 a tenth of what a short command takes. */
const WORDS: typeof REASON_WORDS & typeof STATE_WORDS = Object.assign(
  Object.create(null),
  REASON_WORDS,
  STATE_WORDS,
)

const OF_ENDPOINT: Readonly<Record<string, string>> = {
  upload: 'uploads',
  send: 'uploads',
  list: 'listings',
  delete: 'deletions',
  create_album: 'new albums',
}

const OF_KEY: ReadonlySet<string> = new Set(['INVALID_API_KEY', 'MISSING_API_KEY', 'OTHER_ACCOUNT'])

interface Block {
  code: string
  endpoint: string
}

/** What a failure says of the whole host. Null: it concerns its endpoint alone. An upload node that is away is not the host. */
export function ofWholeHost({ code, endpoint }: Block): 'key_refused' | 'host_away' | null {
  if (OF_KEY.has(code)) return 'key_refused'
  return code === 'HOST_UNREACHABLE' && endpoint !== 'send' ? 'host_away' : null
}

/** What a person can do about a used-up quota. Null: while the key is refused, asking the host again helps nobody. */
export function quotaRemedy(blocks: readonly Block[]): Reason | null {
  return blocks.some(block => ofWholeHost(block) === 'key_refused') ? null : because('quota_raised')
}

/** In words: what the host refuses with this block. A newer albumd may have recorded an endpoint that this one does not know. */
function usesOf(block: Block): string {
  return ofWholeHost(block) === 'key_refused' ? 'the key' : KINDS.uses(block.endpoint)
}

/** Who refuses. albumd itself refuses the key of another account, although the host takes it. */
function refuserOf(code: string): string {
  return code === 'OTHER_ACCOUNT' ? 'albumd' : 'the host'
}

/** Whether the host refuses the key. When albumd refuses it, the message already says what to do. */
export function hostRefusesKey(block: Block): boolean {
  return ofWholeHost(block) === 'key_refused' && refuserOf(block.code) === 'the host'
}

/** What is refused, or what waits until a trouble has passed by itself. `alike`: blocks with the same code. */
export function blockInWords(alike: readonly (Block & { needs_person: boolean })[]): string {
  const uses = [...new Set(alike.map(usesOf))].join(', ')
  const refused = alike.find(({ needs_person }) => needs_person)
  if (refused) return `${refuserOf(refused.code)} refuses ${uses}`
  return alike.some(block => ofWholeHost(block) === 'host_away') ? 'the host is away' : `${uses} wait`
}

/** In words: what a machine of the account does. */
export function machineInWords(state: string): string {
  return state === 'unknown' ? 'not heard of while the store is away' : state
}

/** Reasons that end by themselves within moments, so nobody has to do anything. */
const PASSING = ['ignore_file_vanished', 'scan_ended', 'root_moved'] as const satisfies readonly ReasonCode[]

/** The names of the images that a person decides about. `first`: of a folder that is gone, the first image that waits. */
const IMAGES = {
  image: 'the image',
  older: 'the image of the replaced version',
  first: 'the first of the waiting images',
  each: 'each',
}
export type ImageName = keyof typeof IMAGES | { id: string }

/** Limits of inotify, with the values to which people are told to raise them. */
const HIGHER = { max_user_watches: 1_048_576, max_user_instances: 1024, max_queued_events: 131_072 }

/** How a fact is shown: `{at:time}` shows the fact `at` by `KINDS.time`. Without a kind it is shown as it is. */
const KINDS = {
  reason: (why: Reason) => inWords(why),
  /** What is the case, for a fact that is itself a reason, without what can be done about it. */
  fact: (why: Reason) => factOf(why),
  /** Like `fact`, for brackets, in which no other brackets may stand. */
  inner: (why: Reason) => factOf(why).replace(/ \(([^()]*)\)$/, ', $1'),
  remedy_of: (why: Reason) => inWords(why).slice(factOf(why).length),
  reasons: (all: readonly Reason[]) => all.map(inWords).join('; '),
  /** What the host said, if it said anything. */
  said: (why: Reason | null) => (why === null ? 'it has not said why' : inWords(why)),
  folder: (path: string) => path || 'the root',
  refuser: refuserOf,
  /** The end of a wait. Null, and so nothing: nobody knows it while albumd does not run. */
  until: (at: number | null) => (at === null ? '' : ` until ${localTime(at)}`),
  ran: (ms: number | null) => (ms === null ? '' : ` until albumd has run for about ${spanInWords(ms)} more`),
  /** The fullest folders. '' is the root. `others`: how many folders are not named. */
  folders: ({ named, others }: { named: readonly string[]; others: number }) =>
    `${named.map(folder => folder || 'the root').join(', ')}${others > 0 ? ` and ${inDigits(others)} more` : ''}`,
  /** A part of a picture by its name, as "image 2, scan" or "chunk IDAT". */
  part: (name: string) =>
    name
      .split(', ')
      .map(one => (/^(?:chunk |[A-Z]|\S+ \d+$)/.test(one) ? one : `the ${one}`))
      .reverse()
      .join(' of '),
  /** How many others there are beside the one that is named. */
  more: (others: number) => (others > 0 ? ` and ${others} more` : ''),
  named: (path: string | null) => (path === null ? '' : ` ${path}`),
  paths: (paths: readonly string[]) => paths.join(', '),
  time: localTime,
  pictures: (n: number) => count(n, 'picture'),
  number: inDigits,
  wait: (images: number) => `${count(images, 'image')} ${images === 1 ? 'waits' : 'wait'}`,
  span: spanInWords,
  /** What is left of a span that passes only while albumd runs. Null: it runs, and the end of the span follows the text. */
  runs: (ms: number | null) => (ms === null ? '' : `, when albumd has run for about ${spanInWords(ms)} more`),
  again: (ms: number | null) => (ms === null ? '' : `; next try${KINDS.runs(ms)}`),
  shell: shellWord,
  /** What ends the doubt about a folder whose pictures do not come back, and what that costs. */
  trust: (folder: string) =>
    `; only if on purpose, "albumd trust ${shellWord(folder)}" takes what is missing as deleted`,
  sysctl: (key: keyof typeof HIGHER) =>
    `sudo sysctl fs.inotify.${key}=${HIGHER[key]}, and the same line in /etc/sysctl.d to keep it`,
  /** What a person can do about the system's error with this code. */
  remedy: readRemedy,
  /** An error of the disk, as Node words it: "EACCES: permission denied, open '/srv/a'". */
  fault: (message: string) => message.replace(/^[A-Z]+: ([^,]+).*$/s, '$1'),
  connection: (code: string) => CONNECTION_ERRORS[code],
  certificate: certificateFault,
  /** The folder above that is left out, with the path in it. Null: the path itself is left out. */
  within: (at: string | null) => (at === null ? '' : `in ${at}, `),
  /** An ignore rule and where it stands. `file`: the ignore file; null: the config. */
  rule: ({ pattern, file, line }: { pattern: string; file: string | null; line: number }) =>
    `${pattern} in ${file === null ? 'mirrors[].ignore of the config' : `line ${line} of ${file}`}`,
  image: (of: ImageName) => (typeof of === 'string' ? IMAGES[of] : `the image ${of.id}`),
  held: (state: 'held' | 'unproved') =>
    state === 'held'
      ? 'too many were to be deleted at once'
      : 'it is only linked, and its bytes have not proved it yet',
  images: (n: number) => (n === 1 ? 'the image' : `all ${inDigits(n)} images`),
  uses: (endpoint: string) => OF_ENDPOINT[endpoint] ?? endpoint.replace(/^upload /, ''),
  mirrors: (all: readonly { folder: string }[]) =>
    `the ${all.length === 1 ? 'only mirror is' : 'mirrors are'} ${all.map(({ folder }) => folder).join(', ')}`,
  /** The process of another albumd. Null: not known. */
  process: (pid: number | null) => (pid === null ? ' ("pgrep -af albumd" lists it)' : ` (pid ${pid})`),
}
type Kinds = typeof KINDS

type Words = typeof WORDS
export type ReasonCode = keyof Words
export const CODES = Object.keys(WORDS) as ReasonCode[]

/** The facts that a text names, each fact as `{name}` or `{name:kind}`. */
type Named<Text> = Text extends `${string}{${infer Fact}}${infer Rest}` ? Fact | Named<Rest> : never
type FactOf<Fact> = Fact extends `${string}:${infer Kind extends keyof Kinds}`
  ? Parameters<Kinds[Kind]>[0]
  : string | number
type FactsIn<Fact extends string> = [Fact] extends [never]
  ? []
  : [{ [F in Fact as F extends `${infer Name}:${string}` ? Name : F]: FactOf<F> }]
type TextOf<C, Texts> = C extends keyof Texts ? Texts[C] : never
type Facts<C extends ReasonCode> = Words[C] extends (...facts: infer Given) => string
  ? Given
  : FactsIn<Named<Words[C]> | Named<TextOf<C, typeof COMMANDS>>>

declare const brand: unique symbol

/** A code with its facts as text, for columns, events and log lines. Declared as a symbol, so that a template string that
 * takes a reason without words does not compile. */
export type Reason = symbol & { readonly [brand]: 'reason' }

export function because<C extends ReasonCode>(code: C, ...facts: Facts<C>): Reason {
  return JSON.stringify([code, ...facts]) as unknown as Reason
}

export function said(words: string): Reason {
  return because('said', { words })
}

/** Why an image is in escrow, for each reason that an escrow entry can record. */
export const WHY_IN_ESCROW = {
  deleted: because('gone'),
  superseded: because('an_older_version'),
  ignored: because('hidden_by_rule'),
} satisfies Record<string, Reason>

export function codeOf(why: Reason): ReasonCode {
  return parsed(why)[0]
}

/** The reason with this code: `why` itself, or the one inside it as its fact `why`. Null: neither has it. */
export function reasonIn(why: Reason, code: ReasonCode): Reason | null {
  const [its, facts] = parsed(why)
  if (its === code) return why
  const inner = innerOf(facts)
  return inner && reasonIn(inner, code)
}

/** Whether a reason, or the reason inside it, ends by itself within moments. */
export function endsByItself(why: Reason): boolean {
  return PASSING.some(code => reasonIn(why, code) !== null)
}

export function failureIn(why: Reason): string | null {
  const [, facts] = parsed(why)
  return ((facts ?? {}) as { code?: string }).code ?? null
}

/** The whole path of the folder in doubt because of which deletions wait by this reason. Null: it names none. */
export function folderIn(why: Reason): string | null {
  const [code, facts] = parsed(why)
  return code === 'folder_in_doubt' ? (facts as { path: string }).path : null
}

export function inWords(why: Reason): string {
  const [code, facts] = parsed(why)
  const words: string | ((facts: never) => string) | undefined = WORDS[code]
  // A function of facts can't work without them, and another version may not have recorded them.
  const isKnown =
    typeof words === 'string' || (words !== undefined && (facts !== undefined || words.length === 0))
  if (!isKnown) return inWords(because('unknown_code', { code }))
  return typeof words === 'string' ? filled(words, facts) : words(facts as never)
}

/** What is the case, in the words of a reason, without what a person can do about it. */
export function factOf(why: Reason): string {
  const [code, facts] = parsed(why)
  const words = WORDS[code]
  // The first sentence of a text says what is the case. What can be done may also come from the reason inside.
  return typeof words === 'string' ? filled(words.split(/\. |\{\w+:remedy_of\}/)[0]!, facts) : inWords(why)
}

export function remedyOf(why: Reason): string | null {
  return inWords(why).slice(factOf(why).length).replace(/^\. /, '') || null
}

export function commandOf(why: Reason): string | null {
  const [code, facts] = parsed(why)
  const command: string | undefined = COMMANDS[code as keyof typeof COMMANDS]
  return command === undefined ? null : filled(command, facts)
}

/** The reason inside a reason, as its fact `why`. Null: there is none. A fact `why` may also be plain text. */
function innerOf(facts: unknown): Reason | null {
  const { why } = (facts ?? {}) as { why?: Reason | string | number }
  return String(why).startsWith('["') ? (why as Reason) : null
}

/** The text with its facts. A fact that an older albumd did not record is left out, with the brackets around it. */
function filled(text: string, facts: unknown): string {
  return text.replace(
    /( \()?\{(\w+)(?::(\w+))?\}(\))?/g,
    (_, open = '', name: string, kind: keyof Kinds | undefined, close = '') => {
      const fact = ((facts ?? {}) as Record<string, never>)[name]
      if (fact === undefined) return open && close ? '' : open + close
      return open + String(kind === undefined ? fact : KINDS[kind](fact)) + close
    },
  )
}

function parsed(why: Reason): [ReasonCode, unknown] {
  return JSON.parse(why as unknown as string)
}
