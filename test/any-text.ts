import fc from 'fast-check'

/** Text of any characters. fast-check's own unit of them takes two seconds for a table of all, in each process anew. */
export const anyText = fc
  .array(fc.nat(0x10ffff))
  .map(points => String.fromCodePoint(...points).toWellFormed())
