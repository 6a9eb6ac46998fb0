import { AMOUNTS, CHOICES, CODES, DECISIONS } from '../protocol/decisions.ts'
import { type ErrorCode, isErrorCode, STATUS_OF } from '../protocol/errors.ts'

/** How a host reads what the specification leaves open: a value for each choice, amount and code. */
export type Readings = {
  readonly [Name in keyof typeof CHOICES]: (typeof CHOICES)[Name][2][number]
} & { readonly [Name in keyof typeof AMOUNTS]: number } & {
  readonly [Name in keyof typeof CODES]: ErrorCode
}

/** A failure for which §4 names no code. */
export type Failing = keyof typeof CODES

/** One reading: what it is about, the host's own value, and which values it may have. */
interface Entry {
  at: string
  says: string
  own: string | number
  /** The value that a text means; undefined when the text means no value. */
  read(text: string): string | number | undefined
  /** The possible values in words. */
  others: string
}

const ENTRIES = new Map<string, Entry>()
for (const [name, [at, says, values]] of Object.entries(CHOICES)) {
  const [own, ...others] = values
  const read = (text: string) => values.find(value => value === text)
  ENTRIES.set(name, { at, says, own, read, others: others.join(', ') })
}
for (const [name, [at, says, own, least]] of Object.entries(AMOUNTS)) {
  const read = (text: string) => (/^\d{1,15}$/.test(text) && Number(text) >= least ? Number(text) : undefined)
  ENTRIES.set(name, { at, says, own, read, others: `a whole number from ${least}` })
}
for (const [name, [at, says, own]] of Object.entries(CODES)) {
  const read = (text: string) => (isErrorCode(text) ? text : undefined)
  ENTRIES.set(name, { at, says, own, read, others: 'a code of §7' })
}

/** The readings of the host by default. */
export const OWN_READINGS = Object.fromEntries(
  [...ENTRIES].map(([name, { own }]) => [name, own]),
) as unknown as Readings

/** Reads "name=value,name=value". Answers a string when a part is wrong: what is wrong with it. */
export function parseReadings(written: string): Partial<Readings> | string {
  const taken: Record<string, string | number> = {}
  for (const part of written.split(',')) {
    const [, label = '', text = ''] = /^([^=]*)=(.*)$/s.exec(part.trim()) ?? []
    const name = nameOf(label)
    const entry = ENTRIES.get(name)
    if (!entry) return `"${part.trim()}" must be name=value, with a name that a bare --readings lists`
    const value = entry.read(text)
    if (value === undefined) return `${label}: "${text}" must be ${[entry.own, entry.others].join(' or ')}`
    if (Object.hasOwn(taken, name)) return `${label} is given more than once`
    taken[name] = value
  }
  return taken as Partial<Readings>
}

/** A reading as it is printed, for people and for programs. */
export interface Listed {
  at: string
  /** The name by which `--readings` changes the reading. Null: it can't be changed by name. */
  name: string | null
  taken: string | number | null
  says: string
  others: string | null
}

/** The host's reading of each point that the specification leaves open. */
export function listReadings(): Listed[] {
  const entries = [...ENTRIES].map(([name, { at, own, says, others }]) => ({
    at,
    name: labelOf(name),
    taken: own,
    says,
    others,
  }))
  const rules = Object.entries(RULES).flatMap(([at, all]) =>
    all.map(says => ({ at, name: null, taken: null, says, others: null })),
  )
  return [...entries, ...rules]
}

/** The code with which the host answers a refusal, and the status of this code in §7. */
export function answerTo(reason: ErrorCode | Failing, readings: Readings) {
  const code = Object.hasOwn(CODES, reason) ? readings[reason as Failing] : (reason as ErrorCode)
  return { code, status: STATUS_OF[code] }
}

/** The label of a reading: fileNameMax becomes file-name-max. */
function labelOf(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

function nameOf(label: string): string {
  return label.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Readings that can't be changed, or that have an option of their own. */
const RULES: Readonly<Record<string, readonly string[]>> = {
  '§1.6': [
    'Uploading through the interface begins with the professional plan.',
    'List, delete and create_album begin with the plan of --plans-from.',
  ],
  '§4.1': [
    'Null and "" count as missing.',
    'What is wrong with a field comes before what the plan forbids.',
    'Of several faults the first is answered, in the order file_name, file_size, mime_type, skip_dimension_check, width, height, album_id.',
    'Where width and height are not required they may be declared all the same, and are refused by the same rule. One without the other declares nothing.',
    'The MIME type is not compared with the bytes.',
    `Formats go by other names too: ${Object.keys(DECISIONS.otherMimeTypes).join(', ')}.`,
    'The default album is that of --default-album, for both forms of step 1. It is made when the host starts.',
  ],
  '§4.2': [
    'What was declared decides whether dimensions are compared, not the format of the bytes. An SVG without a size is UNREADABLE_DIMENSION then.',
    "The delivered Content-Type is that of the bytes; when they have none of §4.3's formats, the declared type. So are listed dimensions.",
    'An upload that ends after its credential has run out is refused.',
  ],
  '§4.3': [
    'Both forms of step 1 share plan, quota and rate. In the presign form no dimensions are compared.',
  ],
  '§5': [
    "The key comes before everything else, also before a path outside §4. Then come the endpoint's rate, its plan, its parameters; at step 1 quota, storage and upload node.",
  ],
  '§7': [
    'A deletion that the host fails at is DELETE_FAILED. Any other fault of the host is INTERNAL_ERROR, with status 500.',
  ],
  '§8': [
    'A character of a name is a code point.',
    'A second is any 1000 ms. The largest number of requests is that of --rates.',
    "The quota's day begins as --day-begins says.",
    'The largest file and the storage of each plan are those of --max-file-size and --storage-limit.',
    'An image counts for the day on which its credential was issued. A deleted image still counts.',
    'Step 2 counts for the account that its credential was issued to.',
    'Credentials that may still be used count for the storage with what they declare.',
  ],
}
