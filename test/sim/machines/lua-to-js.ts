/*
 * Turns Lua into JavaScript: as much of Lua 5.1 as the scripts of src/shared use. What is not understood throws, and a test
 * compares the answers with those of a real store. A call in JavaScript answers a list, because functions of Lua may answer
 * several values. `$` before the names keeps them from the words of JavaScript.
 */

const TOKEN =
  /\s+|--[^\n]*|(?<name>[A-Za-z_]\w*)|(?<number>\d+(?:\.\d+)?)|(?<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(?<sign>==|~=|<=|>=|\.\.|[-+*/%^#<>=(){}[\],.])/y

const WORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)

interface Token {
  kind: 'word' | 'name' | 'number' | 'text' | 'sign' | 'end'
  text: string
}

function tokensOf(lua: string): Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < lua.length) {
    const at = TOKEN.lastIndex
    const groups = TOKEN.exec(lua)?.groups
    if (!groups) throw new Error(`not understood in Lua: ${lua.slice(at, at + 40)}`)
    for (const kind of ['name', 'number', 'text', 'sign'] as const) {
      const text = groups[kind]
      if (text !== undefined) tokens.push({ kind: WORDS.has(text) ? 'word' : kind, text })
    }
  }
  return [...tokens, { kind: 'end', text: '' }]
}

/** How tightly operators with two sides bind, and the function of the runtime that each becomes. */
const BINARY: Readonly<Record<string, readonly [left: number, right: number, js: string]>> = {
  or: [1, 1, ''],
  and: [2, 2, ''],
  '<': [3, 3, 'less'],
  '>': [3, 3, 'more'],
  '<=': [3, 3, 'atMost'],
  '>=': [3, 3, 'atLeast'],
  '~=': [3, 3, '!=='],
  '==': [3, 3, '==='],
  '..': [5, 4, 'concat'],
  '+': [6, 6, '+'],
  '-': [6, 6, '-'],
  '*': [7, 7, '*'],
  '/': [7, 7, '/'],
  '%': [7, 7, 'modulo'],
  '^': [10, 9, '**'],
}
const UNARY = 8

/** An expression in JavaScript. `call`: it answers a list of values; the first is its value. */
interface Expression {
  js: string
  call?: true
}

const value = ({ js, call }: Expression): string => (call ? `${js}[0]` : js)
/** Of several expressions only the last one gives all its values. */
const values = (all: readonly Expression[]): string =>
  all.map((each, at) => (each.call && at === all.length - 1 ? `...${each.js}` : value(each))).join(', ')

class Translator {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(lua: string) {
    this.#tokens = tokensOf(lua)
  }

  whole(): string {
    const js = this.#block()
    if (this.#next.kind !== 'end') this.#fail()
    return `${js}\nreturn []`
  }

  get #next(): Token {
    return this.#tokens[this.#at]!
  }

  #fail(): never {
    const near = this.#tokens.slice(this.#at, this.#at + 8).map(({ text }) => text)
    throw new Error(`not understood in Lua: ${near.join(' ')}`)
  }

  /** Whether the next token is this one, which is then read. */
  #has(text: string): boolean {
    const { kind, text: next } = this.#next
    if (next !== text || (kind !== 'word' && kind !== 'sign')) return false
    this.#at++
    return true
  }

  #must(text: string): void {
    if (!this.#has(text)) this.#fail()
  }

  #name(): string {
    if (this.#next.kind !== 'name') this.#fail()
    return `$${this.#tokens[this.#at++]!.text}`
  }

  #names(): string[] {
    const names = [this.#name()]
    while (this.#has(',')) names.push(this.#name())
    return names
  }

  #block(): string {
    const lines: string[] = []
    while (this.#next.kind !== 'end' && !['end', 'else', 'elseif'].includes(this.#next.text))
      lines.push(this.#statement())
    return lines.join('\n')
  }

  #statement(): string {
    if (this.#has('local')) return this.#local()
    if (this.#has('if')) return this.#if()
    if (this.#has('for')) return this.#for()
    if (this.#has('break')) return 'break'
    if (this.#has('return')) {
      const isEmpty = this.#next.kind === 'end' || this.#next.text === 'end'
      return `return [${isEmpty ? '' : values(this.#expressions())}]`
    }
    if (this.#has('while')) {
      const condition = this.#condition()
      this.#must('do')
      return `while (${condition}) {\n${this.#toEnd()}\n}`
    }
    const target = this.#suffixed()
    if (target.call) return `;${target.js}`
    if (this.#has(',')) {
      const names = [target.js, ...this.#names()]
      this.#must('=')
      return `;[${names.join(', ')}] = [${values(this.#expressions())}]`
    }
    this.#must('=')
    return this.#set(target.js, value(this.#expression()))
  }

  #set(target: string, js: string): string {
    const [, table, key] = /^get\((.*), (.*)\)$/.exec(target) ?? []
    return table === undefined ? `${target} = ${js}` : `set(${table}, ${key}, ${js})`
  }

  #local(): string {
    if (this.#has('function')) return `const ${this.#name()} = ${this.#function()}`
    const names = this.#names()
    if (!this.#has('=')) return `let ${names.join(', ')}`
    const given = this.#expressions()
    return names.length === 1 && given.length === 1
      ? `let ${names[0]} = ${value(given[0]!)}`
      : `let [${names.join(', ')}] = [${values(given)}]`
  }

  #if(): string {
    const condition = this.#condition()
    this.#must('then')
    const js = `if (${condition}) {\n${this.#block()}\n}`
    if (this.#has('elseif')) return `${js} else ${this.#if()}`
    if (this.#has('else')) return `${js} else {\n${this.#toEnd()}\n}`
    this.#must('end')
    return js
  }

  #for(): string {
    const names = this.#names()
    if (this.#has('in')) {
      const all = values(this.#expressions())
      this.#must('do')
      return `for (let [${names.join(', ')}] of each(${all})) {\n${this.#toEnd()}\n}`
    }
    this.#must('=')
    const [from, to, step = { js: '1' }] = this.#expressions()
    this.#must('do')
    const [name] = names
    return `for (let ${name} = ${value(from!)}; ${name} <= ${value(to!)}; ${name} += ${value(step)}) {\n${this.#toEnd()}\n}`
  }

  #toEnd(): string {
    const js = this.#block()
    this.#must('end')
    return js
  }

  #function(): string {
    this.#must('(')
    const names = this.#next.text === ')' ? [] : this.#names()
    this.#must(')')
    return `(${names.join(', ')}) => {\n${this.#toEnd()}\nreturn []\n}`
  }

  #condition(): string {
    return `is(${value(this.#expression())})`
  }

  #expressions(): Expression[] {
    const all = [this.#expression()]
    while (this.#has(',')) all.push(this.#expression())
    return all
  }

  #expression(above = 0): Expression {
    let left = this.#unary()
    for (;;) {
      const { kind, text } = this.#next
      const operator = kind === 'word' || kind === 'sign' ? BINARY[text] : undefined
      if (!operator || operator[0] <= above) return left
      this.#at++
      left = { js: joined(text, value(left), value(this.#expression(operator[1]))) }
    }
  }

  #unary(): Expression {
    if (this.#has('not')) return { js: `!is(${value(this.#expression(UNARY))})` }
    if (this.#has('-')) return { js: `(-number(${value(this.#expression(UNARY))}))` }
    if (this.#has('#')) return { js: `length(${value(this.#expression(UNARY))})` }
    return this.#simple()
  }

  #simple(): Expression {
    const { kind, text } = this.#next
    if (kind === 'number') return { js: this.#tokens[this.#at++]!.text }
    if (kind === 'text') return { js: JSON.stringify(unescaped(this.#tokens[this.#at++]!.text)) }
    if (this.#has('nil')) return { js: 'undefined' }
    if (this.#has('true') || this.#has('false')) return { js: text }
    if (this.#has('function')) return { js: `(${this.#function()})` }
    if (this.#has('{')) return this.#table()
    return this.#suffixed()
  }

  #suffixed(): Expression {
    let expression: Expression
    if (this.#has('(')) {
      expression = { js: `(${value(this.#expression())})` }
      this.#must(')')
    } else expression = { js: this.#name() }
    for (;;) {
      if (this.#has('.'))
        expression = { js: `get(${value(expression)}, ${JSON.stringify(this.#name().slice(1))})` }
      else if (this.#has('[')) {
        expression = { js: `get(${value(expression)}, ${value(this.#expression())})` }
        this.#must(']')
      } else if (this.#has('(')) {
        const given = this.#next.text === ')' ? [] : this.#expressions()
        this.#must(')')
        expression = { js: `${value(expression)}(${values(given)})`, call: true }
      } else return expression
    }
  }

  #table(): Expression {
    const items: Expression[] = []
    while (!this.#has('}')) {
      items.push(this.#expression())
      if (!this.#has(',') && this.#next.text !== '}') this.#fail()
    }
    return { js: `table(${values(items)})` }
  }
}

function joined(operator: string, left: string, right: string): string {
  const js = BINARY[operator]![2]
  if (operator === 'or') return `or(${left}, () => ${right})`
  if (operator === 'and') return `and(${left}, () => ${right})`
  if (/^[a-z]/i.test(js)) return `${js}(${left}, ${right})`
  return js.endsWith('==') ? `(${left} ${js} ${right})` : `(number(${left}) ${js} number(${right}))`
}

function unescaped(text: string): string {
  return text
    .slice(1, -1)
    .replace(/\\(.)/g, (_, sign: string) => ({ n: '\n', t: '\t', 0: '\0' })[sign] ?? sign)
}

export const toJavaScript = (lua: string): string => new Translator(lua).whole()
