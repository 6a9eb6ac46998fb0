// What queries of several tables share. This file imports no database, because commands that need none load it too.

/** The condition that a path lies below a folder that is not the root: between `a/` and `a0`, as '0' follows '/'. */
export function isBelow(path = 'path', folder = '+@path'): string {
  return `${path} > ${folder} || '/' AND ${path} < ${folder} || '0'`
}

/** The path of a picture, or of a folder whose `name` is ''. */
export function pathOf(name = 'files.name'): string {
  return `trim(folders.path || '/' || ${name}, '/')`
}

/** The bounds of all paths below a folder. Below the root, the end is a blob, which SQLite sorts after all texts. */
export function boundsBelow(folder: string): { after: string; end: string | Buffer } {
  return folder === '' ? { after: '', end: Buffer.alloc(0) } : { after: `${folder}/`, end: `${folder}0` }
}

/** All rows of a query that reads page by page. So a million rows take no more memory than a page, and no transaction stays
 * open while the caller works slowly. `page`: returns the rows that follow a row, or the first rows. */
export function* pages<Row>(page: (after: Row | undefined) => Row[]): Generator<Row> {
  for (let last: Row | undefined; ; ) {
    const rows = page(last)
    yield* rows
    last = rows.at(-1)
    if (last === undefined) return
  }
}
