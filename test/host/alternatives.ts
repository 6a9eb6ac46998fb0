import { OWN_READINGS, type Readings } from '../../src/host/decisions.ts'

/** What a host may do where the specification leaves it open. The embedded host does the first of each. */
export const CHOICES = {
  fileName: ['listed', 'any'],
  exempt: ['svg-and-tiff', 'svg', 'tiff', 'none'],
  dimensions: ['stored', 'turned', 'either'],
  exemptDeclared: ['compared', 'ignored'],
  undeclared: ['svg-and-tiff', 'any-picture', 'nothing'],
  skippedCheck: ['any-bytes', 'any-picture'],
  refusedUpload: ['still-usable', 'used-up'],
  cdnUrl: ['both', 'first', 'second', 'neither'],
  delivery: ['plain', 'raw-space', 'non-ascii'],
  cdnBaseUrl: ['absolute', 'without-scheme', 'relative', 'absent'],
  order: ['oldest-first', 'newest-first'],
  subAlbums: ['every-page', 'first-page'],
  beyondLast: ['empty', 'last-page', 'refused'],
  emptyPages: ['0', '1'],
  deletedAlbums: ['album-itself-too', 'sub-albums-alone'],
  albumNames: ['repeatable', 'unique'],
  unusedCredential: ['counts', 'gives-back'],
  numbers: ['numbers', 'text'],
  emptyLists: ['written', 'null', 'left-out'],
  names: ['as-sent', 'changed'],
  times: ['+00:00', 'Z', '+08:00', '-03:30'],
  sizes: ['decimal', 'binary'],
  limitHeaders: ['sent', 'absent'],
  statuses: ['of-the-table', 'of-http'],
} as const satisfies { readonly [Name in keyof Readings]?: readonly Readings[Name][] }

/** Each choice taken as everything that the embedded host does not do by itself. */
export const OTHERS = Object.entries(CHOICES).flatMap(([name, values]) =>
  values
    .filter(value => value !== OWN_READINGS[name as keyof typeof CHOICES])
    .map((value): Partial<Readings> => ({ [name]: value })),
)
