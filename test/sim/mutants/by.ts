import { createHash } from 'node:crypto'
import type { By } from './mutant.ts'

/*
 * What mutants put in the place of a function or a constant.
 */

export const never: By = () => () => false
export const always: By = () => () => true
export const nothing: By = () => () => null
export const idle: By = () => () => {}

// biome-ignore lint/suspicious/noExplicitAny: the mutants name code of all types.
type Change = (returned: any, ...args: any[]) => unknown
type Fields = Record<string, unknown>

/** The object with another value at a path of fields: `but(context, 'synced.resend.has', () => false)`. */
export function but<T extends object>(object: T, path: string, value: unknown): T {
  const [first, ...rest] = path.split('.') as [string, ...string[]]
  const within = (object as Fields)[first] as Fields
  return { ...object, [first]: rest.length === 0 ? value : but(within, rest.join('.'), value) }
}

/** Calls what was there with another argument, or with another value at a path of that one. */
export function given(at: number, path: string, value: unknown): By {
  return original =>
    (...args) =>
      original(...args.with(at, path ? but(args[at], path, value) : value))
}

/** Calls what was there, and changes what it returns. */
export function returning(change: Change): By {
  return original =>
    (...args) =>
      change(original(...args), ...args)
}

/** The same of a promise. */
export function resolving(change: Change): By {
  return original =>
    async (...args) =>
      change(await original(...args), ...args)
}

/** `inner` is replaced while `outer` is called. Neither is asynchronous. */
export function within(outer: string, inner: string, by: By): Record<string, By> {
  let depth = 0
  return {
    [outer]:
      original =>
      (...args) => {
        depth++
        try {
          return original(...args)
        } finally {
          depth--
        }
      },
    [inner]:
      (original, self) =>
      (...args) =>
        (depth > 0 ? (by(original, self) as typeof original) : original)(...args),
  }
}

/** A script in Lua, or a part of one, in which a function of this name answers something else. */
export function inLua(name: string, answer: string): By {
  return original => {
    const lua: string = original.lua ?? original
    const parts = lua.split(new RegExp(`(?<=^local function ${name}\\(.*\\n)[^]*?(?=^end$)`, 'm'))
    if (parts.length !== 2) throw new Error(`there is no function ${name} in the script`)
    const changed = parts.join(`  return ${answer}\n`)
    if (original.lua === undefined) return changed
    return { ...original, lua: changed, digest: createHash('sha1').update(changed).digest('hex') }
  }
}
