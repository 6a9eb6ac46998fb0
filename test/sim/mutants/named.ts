import { stripTypeScriptTypes } from 'node:module'
import { parseAst } from 'rolldown/parseAst'

/** A node of the tree that `parseAst` makes (ESTree), as far as names go. */
// biome-ignore lint/suspicious/noExplicitAny: each type of node has other fields.
type Node = { type: string; start: number; end: number } & Record<string, any>

interface Edit {
  at: number
  end: number
  text: string
}

/** The source of a module without its types, in which `by(name, original)` makes what stands in the place of each name. A name
 * is that of a function, a constant or an import of the module, or, after a dot, that of a member of a class or of a function
 * within it: `checkRoot`, `LastCheck.#isThere`, `openAccount.tell`. `by`: an expression. */
export function withNamed(source: string, names: readonly string[], by: string): string {
  const text = stripTypeScriptTypes(source)
  const module = parseAst(text) as Node
  const edits = names.flatMap(name => editsFor(text, find(module, name), name))
  let edited = text
  for (const { at, end, text } of edits.sort((a, b) => b.at - a.at))
    edited = edited.slice(0, at) + text + edited.slice(end)
  return `const $by = ${by}; ${edited}`
}

function find(module: Node, name: string): Node {
  let found = module
  for (const part of name.split('.')) {
    const all = [...declarations(found, part, found !== module && found.type !== 'ClassDeclaration')]
    if (all.length !== 1) throw new Error(`there are ${all.length} "${part}" for "${name}"`)
    found = all[0]!
  }
  return found
}

/** What declares the name directly in a module or a class, or anywhere within something else. */
function* declarations(within: Node, name: string, deep: boolean): Generator<Node> {
  for (const node of childrenOf(within)) {
    const id = node.id ?? node.key ?? node.local
    if (DECLARING.has(node.type) && nameOf(id) === name) yield node
    else if (deep || PLAIN.has(node.type)) yield* declarations(node, name, deep)
  }
}

const DECLARING = new Set([
  'FunctionDeclaration',
  'ClassDeclaration',
  'MethodDefinition',
  'PropertyDefinition',
  'Property',
  'VariableDeclarator',
  'ImportSpecifier',
])
const PLAIN = new Set(['ClassBody', 'ExportNamedDeclaration', 'ImportDeclaration', 'VariableDeclaration'])

function nameOf(id: Node | undefined): string | undefined {
  return id?.type === 'PrivateIdentifier' ? `#${id.name}` : id?.name
}

function* childrenOf(node: Node): Generator<Node> {
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (child?.type) yield child
}

function editsFor(text: string, node: Node, name: string): Edit[] {
  const by = (original: string) => `$by(${JSON.stringify(name)}, ${original})`
  const of = ({ start, end }: Node) => text.slice(start, end)
  const replace = ({ start: at, end }: Node, text: string): Edit => ({ at, end, text })
  const add = (text: string): Edit => ({ at: node.end, end: node.end, text })
  switch (node.type) {
    case 'FunctionDeclaration': {
      const { name } = node.id
      const isExported = /export\s+(async\s+)?$/.test(text.slice(0, node.start))
      const wrapper = `function ${name}(...args) { return ${by(`${name}$`)}.apply(this, args) }`
      return [replace(node.id, `${name}$`), add(` ${isExported ? 'export ' : ''}${wrapper}`)]
    }
    case 'MethodDefinition': {
      const key = of(node.key)
      const [get, call, put] =
        node.kind === 'get' ? ['get ', '', '()'] : ['', '(...args)', '.apply(this, args)']
      const original = by(`(...args) => this.${key}$${call}, this`)
      const head = `${node.static ? 'static ' : ''}${get}${key}(${get ? '' : '...args'})`
      return [replace(node.key, `${key}$`), add(` ${head} { return ${original}${put} }`)]
    }
    case 'Property':
      if (!node.method) return [replace(node.value, by(of(node.value)))]
      return [
        {
          at: node.start,
          end: node.end,
          text: `${of(node.key)}: ${by(`${node.value.async ? 'async ' : ''}function ${of(node.value)}`)}`,
        },
      ]
    case 'PropertyDefinition':
      return [replace(node.value, by(of(node.value)))]
    case 'VariableDeclarator':
      return [replace(node.init, by(of(node.init)))]
    case 'ImportSpecifier': {
      const { name } = node.local
      return [
        replace(node, `${of(node.imported)} as ${name}$`),
        { at: 0, end: 0, text: `const ${name} = ${by(`${name}$`)}; ` },
      ]
    }
    default:
      throw new Error(`"${name}" can't be replaced: it is a ${node.type}`)
  }
}
