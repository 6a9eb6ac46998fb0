import { always, idle, inLua, never } from './by.ts'
import type { By, Mutant } from './mutant.ts'

/** While a question is under way, nothing tells that the store could not be told of all. */
function toldAll(): Record<string, By> {
  let asking = 0
  return {
    'SharedWindow.#exchange':
      original =>
      async (...args) => {
        asking++
        return original(...args).finally(() => asking--)
      },
    'SharedWindow.#goAway':
      original =>
      (...args) =>
        asking > 0 && args.length === 0 ? undefined : original(...args),
  }
}

/** What keeps the rates and the quota of several machines with one account. */
export const RATES: readonly Mutant[] = [
  {
    name: 'the rate of machines has no sum',
    why: 'machines send more together than the host permits',
    seed: 500_000_002,
    instead: { 'shared/rate-script.ts': { SECOND_MS: () => 0 } },
  },
  {
    name: 'a place counts once its request has left',
    why: 'requests that have a place leave together with the next ones',
    seed: 500_000_001,
    instead: { 'shared/rate-script.ts': { RATE: inLua('under_way', '0') } },
  },
  {
    name: 'a late answer does not show that its request may have come late',
    why: 'the host counts requests that were held up together with those of the second after',
    seed: 500_000_001,
    instead: { 'remote/gate/rate-window.ts': { 'RateWindow.take.longer': () => 0 } },
  },
  {
    name: 'a few answers show how quick the host is',
    why: 'all of them may have been late',
    seed: 560_001_770,
    instead: { 'remote/gate/rate-window.ts': { FIRST: () => 0 } },
  },
  {
    name: 'a request without an answer counts as arrived',
    why: 'it may arrive as late as one that is answered',
    seed: 500_000_001,
    instead: { 'remote/gate/rate-window.ts': { UNDER_WAY_MS: () => 22 } },
  },
  {
    name: 'an emptied store gives places at once',
    why: 'what was sent in the last second does not count',
    seed: 500_000_006,
    instead: { 'shared/rate-script.ts': { RATE: inLua('was_away', 'false') } },
  },
  {
    name: 'a machine that is cut off counts as dead',
    why: 'the others take its part, and it goes on',
    seed: 500_000_001,
    instead: { 'shared/rate-script.ts': { RATE: inLua('is_connected', 'false') } },
  },
  {
    name: 'a machine that was cut off and dies gives its part back at once',
    why: 'what it sent last still counts',
    seed: 520_000_143,
    instead: { 'shared/rate-script.ts': { RATE: inLua('just_gone', 'false') } },
  },
  {
    name: 'nobody is left a part without the store',
    why: 'a machine that is cut off sends beside the whole rate',
    seed: 500_000_007,
    instead: {
      'shared/account.ts': {
        beat: original => (store, id, facts) => original(store, id, { ...facts, share: null }),
      },
    },
  },
  {
    name: 'a machine does not say that it is alone',
    why: 'a machine whose answers get lost looks alive, and uses its part besides',
    seed: 500_000_008,
    instead: {
      'shared/account.ts': {
        beat: original => (store, id, facts) => original(store, id, { ...facts, alone: false }),
      },
    },
  },
  {
    name: 'a machine without the store uses its part at once',
    why: 'the others do not know yet',
    seed: 500_000_004,
    instead: { 'shared/shared-window.ts': { SILENT_MS: () => 1000 } },
  },
  {
    name: 'a machine without the store keeps the whole rate',
    why: 'all machines together send too much',
    seed: 500_000_004,
    instead: { 'shared/shared-window.ts': { 'SharedWindow.#waitAloneMs.part': () => 1e6 } },
  },
  {
    name: 'a place is used however old it is',
    why: 'a machine that was stopped uses places that are those of other machines by now',
    seed: 505_000_101,
    instead: { 'shared/shared-window.ts': { 'SharedWindow.take.isOver': never } },
  },
  {
    name: 'a place is used after a stop',
    why: 'the store may have lost the place while the machine was stopped',
    seed: 731_000_116,
    instead: { 'shared/shared-window.ts': { 'SharedWindow.take.taken': () => Number.POSITIVE_INFINITY } },
  },
  {
    name: 'a machine that was stopped uses its part at once',
    why: 'the store was started again meanwhile, so the others have its part',
    seed: 505_000_334,
    instead: { 'shared/account.ts': { STOPPED_MS: () => Number.POSITIVE_INFINITY } },
  },
  {
    name: 'a machine that comes back tells nothing',
    why: 'what it sent without the store does not count',
    seed: 500_000_008,
    instead: { 'shared/shared-window.ts': { 'SharedWindow.#comeBack': idle } },
  },
  {
    name: 'a question that is answered has told all',
    why: 'a request that left without the store meanwhile does not count',
    seed: 560_001_450,
    instead: { 'shared/shared-window.ts': toldAll() },
  },
  {
    name: 'places of which nothing is heard count for ever',
    why: 'the others never get the whole rate again',
    seed: 500_000_006,
    instead: { 'shared/rate-script.ts': { OPEN_MS: () => 1e12 } },
  },
  {
    name: 'the quota is told to nobody',
    why: 'others ask for what one was refused',
    seed: 500_000_008,
    instead: { 'shared/account.ts': { 'openAccount.hearRefusals': idle } },
  },
  {
    name: 'a machine that was alone says goodbye',
    why: 'the others take its part while what it sent still counts',
    seed: 500_000_364,
    instead: { 'shared/account.ts': { 'openAccount.isAllTold': always } },
  },
]
