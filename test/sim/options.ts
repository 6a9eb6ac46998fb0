import { availableParallelism } from 'node:os'
import type { Command } from '../../scripts/command-line.ts'
import { KINDS, WIDE } from './histories/seeds.ts'

export const SIM = {
  name: 'sim',
  about: `The simulation: histories of a disk, a host and people, each from a seed. Every hundredth is played twice and must go alike.
From seed ${WIDE} on they are of all kinds in turn. Each kind has seeds of its own too, from 1, ${KINDS.join(', ')} on.
Afterwards a line for each thing in which hosts varied: how many histories had it, and how many of them failed.
Ends with 1 where an invariant did not hold. On two cores 1000 seeds take half a minute; --exhaust takes three minutes.`,
  operands: {
    word: 'VARIATION',
    kind: 'variation',
    about: 'Of the seeds, only those are played whose host varies in all that is named:',
    known: [
      ...['strip', 'pack', 'encode', 'turn', 'shrink', 'promises', 'renames', 'strays', 'keepsIds'],
      ...['rollingQuota', 'tellsImage'],
    ].map(name => ({ name })),
  },
  options: {
    seeds: { value: 'N', least: 1, usual: 1000, does: 'so many histories' },
    from: { value: 'N', least: 0, usual: WIDE, does: 'the first seed' },
    reach: {
      does: 'also prints which lines and branches of the engine were run, and how often seldom states were seen',
    },
    workers: { value: 'N', least: 1, usual: availableParallelism(), does: 'so many at once' },
    exhaust: {
      beside: [],
      does: 'every world of two pictures in one album within some faults and a crash, and no seeds',
    },
    seed: {
      value: 'N',
      least: 0,
      beside: [],
      does: 'one history alone, printed whole or, where it fails, as the shortest one that fails alike',
    },
  },
} as const satisfies Command
