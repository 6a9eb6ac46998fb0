import { AMOUNTS, CHOICES, CODES } from '../protocol/decisions.ts'
import { type ErrorCode, isErrorCode, STATUS_OF } from '../protocol/errors.ts'
import { RULES } from './rules.ts'

/** How a host reads what the specification leaves open: a value for each choice, amount and code. */
export type Readings = {
  readonly [Name in keyof typeof CHOICES]: (typeof CHOICES)[Name]['values'][number]
} & { readonly [Name in keyof typeof AMOUNTS]: number } & {
  readonly [Name in keyof typeof CODES]: ErrorCode
}

/** A failure for which §4 names no code. */
export type Failing = keyof typeof CODES

/** What a reading may be taken as. */
interface Entry {
  at: string
  says: string
  own: string | number
  /** The value of a text; undefined when the text is none. */
  read(text: string): string | number | undefined
  /** In words, what else may be taken. */
  others: string
}

const ENTRIES = new Map<string, Entry>()
for (const [name, { at, says, values }] of Object.entries(CHOICES)) {
  const [own, ...others] = values
  const read = (text: string) => values.find(value => value === text)
  ENTRIES.set(name, { at, says, own, read, others: others.join(', ') })
}
for (const [name, { at, says, value, least }] of Object.entries(AMOUNTS)) {
  const read = (text: string) => (/^\d{1,15}$/.test(text) && Number(text) >= least ? Number(text) : undefined)
  ENTRIES.set(name, { at, says, own: value, read, others: `a whole number from ${least}` })
}
for (const [name, { at, says, code }] of Object.entries(CODES)) {
  const read = (text: string) => (isErrorCode(text) ? text : undefined)
  ENTRIES.set(name, { at, says, own: code, read, others: 'a code of §7' })
}

/** What the host has decided where nothing else is said. */
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

/** One reading for people and programs. */
export interface Listed {
  at: string
  /** Null: it can't be taken otherwise. */
  name: string | null
  taken: string | number | null
  says: string
  others: string | null
}

/** All that the host decided. */
export function listReadings(): Listed[] {
  const entries = [...ENTRIES].map(([name, { at, own, says, others }]) => ({
    at,
    name: labelOf(name),
    taken: own,
    says,
    others,
  }))
  return [...entries, ...RULES.map(({ at, says }) => ({ at, name: null, taken: null, says, others: null }))]
}

/** The code of a refusal, and its status in §7. */
export function answerTo(reason: ErrorCode | Failing, readings: Readings) {
  const code = Object.hasOwn(CODES, reason) ? readings[reason as Failing] : (reason as ErrorCode)
  return { code, status: STATUS_OF[code] }
}

/** fileNameMax is written file-name-max. */
function labelOf(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

function nameOf(label: string): string {
  return label.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
