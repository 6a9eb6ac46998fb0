/** How many tiny pictures lie how. */
export interface TreeShape {
  name: string
  files: number
  /** Files in a folder. */
  perFolder: number
  folders: number
  /** Folders that lie above all others, one in the other. */
  above: string[]
}

const GROUPED = { perFolder: 100, folders: 100, above: [] }

export const TREES = {
  '18': { name: '18', files: 17, ...GROUPED },
  '1k': { name: '1k', files: 1000, ...GROUPED },
  '10k': { name: '10k', files: 10_000, ...GROUPED },
  '100k': { name: '100k', files: 100_000, ...GROUPED },
  '1M': { name: '1M', files: 1_000_000, ...GROUPED },
  flat: { name: 'flat', files: 200_000, perFolder: 200_000, folders: 1, above: [] },
  'one-top': { name: 'one-top', files: 100_000, ...GROUPED, above: ['top'] },
} satisfies Record<string, TreeShape>

export type TreeName = keyof typeof TREES

/** The one file that measurements rewrite. It is as large as the others. */
export const CHANGING = 'changing.bmp'

/** The folders that hold files, below the tree's root. */
export function* leavesOf({ files, perFolder, folders, above }: TreeShape): Generator<string> {
  const leaves = Math.ceil(files / perFolder)
  for (let leaf = 0; leaf < leaves; leaf++)
    yield [...above, `group${pad(Math.floor(leaf / folders), 3)}`, `album${pad(leaf, 5)}`].join('/')
}

export function fileName(number: number): string {
  return `p${pad(number, 7)}.bmp`
}

/** The number in a name that `fileName` made. */
export function numberIn(name: string): number {
  return Number(name.slice(1, -4))
}

/** Where the changing file is, below the tree's root. */
export function changingFile(shape: TreeShape): string {
  return `${leavesOf(shape).next().value}/${CHANGING}`
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}

/** How many folders there are, the root with them. */
export function foldersOf(shape: TreeShape): number {
  const all = new Set([''])
  for (const leaf of leavesOf(shape)) {
    const names = leaf.split('/')
    for (let depth = 1; depth <= names.length; depth++) all.add(names.slice(0, depth).join('/'))
  }
  return all.size
}
