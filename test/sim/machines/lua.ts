import { lauxlib, lua, lualib, to_luastring } from 'fengari'
import type { Script, Value } from '../../../src/shared/store.ts'

/** What a command of Redis answers to a script. `false` is Redis' nil. */
export type Reply = Value | false | { ok: string }

/** Redis' Lua 5.1 knows only floating numbers. The whole numbers of this Lua have 32 bits. */
const AS_IN_REDIS = `
local number = tonumber
tonumber = function(text) local n = number(text) return n and n + 0.0 end
math.floor = function(n) return n - n % 1.0 end
`

/**
 * Runs the scripts of src/shared as they are, in a Lua of JavaScript. `call` is `redis.call`. Redis has Lua 5.1: scripts keep
 * to what 5.1 and 5.3 share, and a test compares both.
 */
export class Lua {
  readonly #state = lauxlib.luaL_newstate()
  /** By digest, where the machine keeps the compiled script. */
  readonly #compiled = new Map<string, number>()

  constructor(call: (command: string, args: string[]) => Reply) {
    const state = this.#state
    lualib.luaL_openlibs(state)
    lua.lua_createtable(state, 0, 1)
    lua.lua_pushjsfunction(state, () => {
      const words = Array.from({ length: lua.lua_gettop(state) }, (_, at) => textAt(state, at + 1))
      this.#push(call(words[0]!.toUpperCase(), words.slice(1)))
      return 1
    })
    lua.lua_setfield(state, -2, to_luastring('call'))
    lua.lua_setglobal(state, to_luastring('redis'))
    lauxlib.luaL_loadstring(state, to_luastring(AS_IN_REDIS))
    lua.lua_pcall(state, 0, 0, 0)
  }

  run({ lua: text, digest }: Script, keys: readonly string[], args: readonly (string | number)[]): Value {
    const state = this.#state
    let at = this.#compiled.get(digest)
    if (at === undefined) {
      if (lauxlib.luaL_loadstring(state, to_luastring(text)) !== lua.LUA_OK) throw this.#error()
      at = lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX)
      this.#compiled.set(digest, at)
    }
    this.#push([...keys])
    lua.lua_setglobal(state, to_luastring('KEYS'))
    this.#push(args.map(String))
    lua.lua_setglobal(state, to_luastring('ARGV'))
    lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, at)
    if (lua.lua_pcall(state, 0, 1, 0) !== lua.LUA_OK) throw this.#error()
    const value = this.#read(lua.lua_gettop(state))
    lua.lua_settop(state, 0)
    return value
  }

  #error(): Error {
    return new Error(lua.lua_tojsstring(this.#state, -1))
  }

  #push(reply: Reply): void {
    const state = this.#state
    if (Array.isArray(reply)) {
      lua.lua_createtable(state, reply.length, 0)
      for (const [at, each] of reply.entries()) {
        this.#push(each ?? false)
        lua.lua_rawseti(state, -2, at + 1)
      }
    } else if (reply === false || reply === null) lua.lua_pushboolean(state, false)
    else if (typeof reply === 'number') lua.lua_pushnumber(state, reply)
    else if (typeof reply === 'string') lua.lua_pushstring(state, to_luastring(reply))
    else {
      lua.lua_createtable(state, 0, 1)
      lua.lua_pushstring(state, to_luastring(reply.ok))
      lua.lua_setfield(state, -2, to_luastring('ok'))
    }
  }

  /** As Redis turns what a script returns into an answer. */
  #read(at: number): Value {
    const state = this.#state
    switch (lua.lua_type(state, at)) {
      case lua.LUA_TNUMBER:
        return Math.trunc(lua.lua_tonumber(state, at))
      case lua.LUA_TSTRING:
        return lua.lua_tojsstring(state, at)
      case lua.LUA_TBOOLEAN:
        return lua.lua_toboolean(state, at) ? 1 : null
      case lua.LUA_TTABLE: {
        const items: Value[] = []
        for (let n = 1; n <= lua.lua_rawlen(state, at); n++) {
          lua.lua_rawgeti(state, at, n)
          items.push(this.#read(lua.lua_gettop(state)))
          lua.lua_settop(state, -2)
        }
        return items
      }
      default:
        return null
    }
  }
}

/** Numbers as Lua 5.1 and Redis write them. */
function textAt(state: ReturnType<typeof lauxlib.luaL_newstate>, at: number): string {
  if (lua.lua_type(state, at) !== lua.LUA_TNUMBER) return lua.lua_tojsstring(state, at)
  const n = lua.lua_tonumber(state, at)
  return Number.isInteger(n) ? n.toFixed(0) : String(n)
}
