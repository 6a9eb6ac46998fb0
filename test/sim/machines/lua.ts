import type { Script, Value } from '../../../src/shared/store.ts'
import { toJavaScript } from './lua-to-js.ts'

/** What a command of Redis answers to a script. `false` is Redis' nil. */
export type Reply = Value | false | { ok: string }

type Table = Map<unknown, unknown>

/** Runs the scripts of src/shared as they are, with numbers as Redis' Lua has them. `call` is `redis.call`. */
export class Lua {
  /** By digest. */
  readonly #compiled = new Map<string, (keys: Table, args: Table) => unknown[]>()
  readonly #redis: Table

  constructor(call: (command: string, args: string[]) => Reply) {
    const command = (...words: unknown[]) => {
      const [name, ...args] = words.map(each => (typeof each === 'number' ? written(each) : String(each)))
      return [read(call(name!.toUpperCase(), args))]
    }
    this.#redis = new Map(Object.entries({ call: command, pcall: command }))
  }

  run({ lua, digest }: Script, keys: readonly string[], args: readonly (string | number)[]): Value {
    let compiled = this.#compiled.get(digest)
    if (!compiled) {
      const known = { ...RUNTIME, ...GLOBALS, $redis: this.#redis }
      const js = `return ($KEYS, $ARGV) => {\n${toJavaScript(lua)}\n}`
      compiled = new Function(...Object.keys(known), js)(...Object.values(known)) as typeof compiled
      this.#compiled.set(digest, compiled!)
    }
    return answered(compiled!(table(...keys), table(...args.map(String)))[0])
  }
}

/** As Redis gives an answer to a script. */
function read(reply: Reply): unknown {
  if (Array.isArray(reply)) return table(...reply.map(read))
  if (reply === null) return false
  return typeof reply === 'object' ? new Map(Object.entries(reply)) : reply
}

/** As Redis turns what a script returns into an answer. */
function answered(value: unknown): Value {
  if (typeof value === 'number') return Math.trunc(value)
  if (typeof value === 'boolean') return value ? 1 : null
  if (value instanceof Map) return items(value).map(answered)
  return (value as string | undefined) ?? null
}

/** As Redis and Lua 5.1 write whole numbers and others. */
function written(n: number): string {
  return Number.isInteger(n) ? n.toFixed(0) : String(n)
}

function table(...values: unknown[]): Table {
  return new Map(values.map((value, at) => [at + 1, value]))
}

function items(table: Table): unknown[] {
  const all: unknown[] = []
  while (table.get(all.length + 1) !== undefined) all.push(table.get(all.length + 1))
  return all
}

function number(value: unknown): number {
  const n = numberOrNil(value)
  if (n === undefined) throw new Error(`Lua: arithmetic on ${value}`)
  return n
}

function numberOrNil(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const n = Number(value)
  return Number.isNaN(n) ? undefined : n
}

/** Lua compares numbers with numbers and texts with texts. */
function compared<T>(one: unknown, other: unknown, how: (one: never, other: never) => T): T {
  if (typeof one !== typeof other || (typeof one !== 'number' && typeof one !== 'string'))
    throw new Error(`Lua: ${one} is compared with ${other}`)
  return how(one as never, other as never)
}

const is = (value: unknown) => value !== undefined && value !== false

/** What `toJavaScript` writes. */
const RUNTIME = {
  table,
  number,
  is,
  or: (left: unknown, right: () => unknown) => (is(left) ? left : right()),
  and: (left: unknown, right: () => unknown) => (is(left) ? right() : left),
  less: (one: unknown, other: unknown) => compared(one, other, (a, b) => a < b),
  more: (one: unknown, other: unknown) => compared(one, other, (a, b) => a > b),
  atMost: (one: unknown, other: unknown) => compared(one, other, (a, b) => a <= b),
  atLeast: (one: unknown, other: unknown) => compared(one, other, (a, b) => a >= b),
  modulo: (one: unknown, other: unknown) =>
    number(one) - Math.floor(number(one) / number(other)) * number(other),
  concat: (one: unknown, other: unknown) =>
    [one, other].map(each => (typeof each === 'number' ? written(each) : (each as string))).join(''),
  length: (value: unknown) => (typeof value === 'string' ? value.length : items(value as Table).length),
  get(from: unknown, key: unknown) {
    if (!(from instanceof Map)) throw new Error(`Lua: ${String(key)} of ${from}`)
    return from.get(key)
  },
  set(to: Table, key: unknown, value: unknown) {
    if (value === undefined) to.delete(key)
    else to.set(key, value)
  },
  each: (iterator: () => Iterable<[unknown, unknown]>) => iterator(),
}

const lists = (functions: Record<string, (...values: never[]) => unknown>): Table =>
  new Map(Object.entries(functions).map(([name, act]) => [name, (...values: never[]) => [act(...values)]]))

/** The functions of Lua that scripts use. */
const GLOBALS = {
  $tonumber: (value: unknown) => [numberOrNil(value)],
  $type: (value: unknown) => [
    value === undefined ? 'nil' : value instanceof Map ? 'table' : (typeof value as string),
  ],
  $unpack: items,
  $pairs: (of: Table) => [() => [...of]],
  $ipairs: (of: Table) => [() => items(of).map((value, at) => [at + 1, value])],
  $math: lists({
    floor: (n: unknown) => Math.floor(number(n)),
    ceil: (n: unknown) => Math.ceil(number(n)),
    max: (...all: unknown[]) => Math.max(...all.map(number)),
    min: (...all: unknown[]) => Math.min(...all.map(number)),
  }),
  $string: new Map<string, (...values: never[]) => unknown[]>([
    [
      'sub',
      (text: string, from: number, to = -1) => [text.slice(from - 1, to < 0 ? text.length + to + 1 : to)],
    ],
    [
      'match',
      (text: string, pattern: string) => {
        const [whole, ...parts] = expressionOf(pattern).exec(text) ?? []
        return parts.length > 0 ? parts : [whole]
      },
    ],
  ]),
  $table: lists({
    sort: (of: Table, isBefore: (one: unknown, other: unknown) => unknown[]) => {
      const sorted = items(of).sort((one, other) =>
        is(isBefore(one, other)[0]) ? -1 : is(isBefore(other, one)[0]) ? 1 : 0,
      )
      for (const [at, value] of sorted.entries()) of.set(at + 1, value)
    },
  }),
}

const expressions = new Map<string, RegExp>()

/** A pattern of Lua, of which scripts use %d and what regular expressions have too. */
function expressionOf(pattern: string): RegExp {
  let expression = expressions.get(pattern)
  if (!expression) {
    if (/%[^d]|-/.test(pattern)) throw new Error(`not understood in Lua: ${pattern}`)
    expression = new RegExp(pattern.replaceAll('%d', String.raw`\d`), 's')
    expressions.set(pattern, expression)
  }
  return expression
}
