import fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Watched } from './watched.ts'

/** What lies in an empty folder at the start. The root is `above/root`. */
type Start = Record<string, string>
/** Each is told before the next one is taken. The root is there after the last. */
type Step = (at: (path: string) => string) => void

const move =
  (from: string, to: string): Step =>
  at =>
    fs.renameSync(at(from), at(to))
const make =
  (path: string): Step =>
  at =>
    void fs.mkdirSync(at(path), { recursive: true })
const remove =
  (path: string): Step =>
  at =>
    fs.rmSync(at(path), { recursive: true })
const ASIDE = { 'aside/root/x.png': 'picture' }

const comings: [string, Start, ...Step[]][] = [
  ['is made', { 'above/': '' }, make('above/root')],
  ['is moved to its place', { 'above/': '', ...ASIDE }, move('aside/root', 'above/root')],
  ['is made with the folder above it', {}, make('above/root')],
  ['is made after the folder above it', {}, make('above'), make('above/root')],
  ['comes with the folder above it', ASIDE, move('aside', 'above')],
  [
    'comes with another folder above it',
    { 'above/': '', ...ASIDE },
    at => {
      move('above', 'old')(at)
      move('aside', 'above')(at)
    },
  ],
  [
    'comes after the folder above it has gone',
    { 'above/': '', ...ASIDE },
    move('above', 'old'),
    move('aside', 'above'),
  ],
  [
    'is made in a folder that was deleted and made again at once',
    { 'above/': '' },
    at => {
      remove('above')(at)
      make('above/root')(at)
    },
  ],
  ['comes by a link above it', ASIDE, at => fs.symlinkSync(at('aside'), at('above'))],
  [
    'takes the place of an empty one',
    { 'above/root/': '', ...ASIDE },
    at => {
      remove('above/root')(at)
      move('aside/root', 'above/root')(at)
    },
  ],
  ['is moved over an empty one', { 'above/root/': '', ...ASIDE }, move('aside/root', 'above/root')],
  [
    'comes with another folder above it, where it was empty',
    { 'above/root/': '', ...ASIDE },
    at => {
      move('above', 'old')(at)
      move('aside', 'above')(at)
    },
  ],
  ['takes the place of a file', { 'above/root': '', ...ASIDE }, remove('above/root'), make('above/root')],
  [
    'comes where the folder above was a file',
    { above: '', ...ASIDE },
    remove('above'),
    move('aside', 'above'),
  ],
]

it.each(comings)('a root that %s is told when it is there, and watched', async (_, start, ...steps) => {
  const watched = await Watched.open([], start, 'above/root')
  await watched.watcher.watch([''])
  for (const step of steps) await watched.told(() => step(path => join(watched.root, '../..', path)), '')
  await watched.hears('')
  expect(watched.losses).toEqual([])
})

it.each<[string, (watched: Watched) => void]>([
  ['gets a picture', watched => watched.touch('x.jpg')],
  ['has a picture edited in place', watched => fs.appendFileSync(watched.in('a.jpg'), 'more')],
])('a root is told that %s while its watch opens', async (_, change) => {
  for (let turns = 0; turns < 16; turns++) {
    const watched = await Watched.open([], { 'mirror/a.jpg': 'picture' })
    const arrive = async () => {
      const opened = watched.watcher.watch([''])
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      change(watched)
      await opened
    }
    await watched.told(arrive, '')
  }
})
