/** What the simulation uses of fengari, a Lua 5.3 in JavaScript, which has no types of its own. */
declare module 'fengari' {
  /** A Lua machine. */
  type State = { readonly lua: unique symbol }
  type Bytes = Uint8Array
  export function to_luastring(text: string): Bytes
  export function to_jsstring(bytes: Bytes): string
  export const lua: {
    LUA_OK: number
    LUA_TNIL: number
    LUA_TNUMBER: number
    LUA_TSTRING: number
    LUA_TTABLE: number
    LUA_TBOOLEAN: number
    LUA_REGISTRYINDEX: number
    lua_pushjsfunction(state: State, call: (state: State) => number): void
    lua_pushinteger(state: State, n: number): void
    lua_pushboolean(state: State, is: boolean): void
    lua_pushnumber(state: State, n: number): void
    lua_pushstring(state: State, text: Bytes): void
    lua_pushnil(state: State): void
    lua_createtable(state: State, items: number, fields: number): void
    lua_rawseti(state: State, at: number, n: number): void
    lua_rawgeti(state: State, at: number, n: number): void
    lua_setfield(state: State, at: number, name: Bytes): void
    lua_setglobal(state: State, name: Bytes): void
    lua_gettop(state: State): number
    lua_settop(state: State, top: number): void
    lua_type(state: State, at: number): number
    lua_tojsstring(state: State, at: number): string
    lua_tonumber(state: State, at: number): number
    lua_toboolean(state: State, at: number): boolean
    lua_rawlen(state: State, at: number): number
    lua_pcall(state: State, args: number, results: number, handler: number): number
  }
  export const lauxlib: {
    luaL_newstate(): State
    luaL_loadstring(state: State, text: Bytes): number
    luaL_ref(state: State, at: number): number
    luaL_error(state: State, text: Bytes): never
  }
  export const lualib: { luaL_openlibs(state: State): void }
}
