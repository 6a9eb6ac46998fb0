import { always, given, idle, inLua, never } from './by.ts'
import type { By, Row } from './mutant.ts'

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
// biome-ignore format: a mutant is a row.
export const RATES: readonly Row[] = [
  [500_000_002, 'the rate of machines has no sum', 'machines send more together than the host permits',
    { 'shared/rate-script.ts': { SECOND_MS: () => 0 } }],
  [500_000_001, 'a place counts once its request has left',
    'requests that have a place leave together with the next ones',
    { 'shared/rate-script.ts': { RATE: inLua('under_way', '0') } }],
  [500_000_001, 'a late answer does not show that its request may have come late',
    'the host counts requests that were held up together with those of the second after',
    { 'remote/gate/rate-window.ts': { 'RateWindow.take.longer': () => 0 } }],
  [560_001_770, 'a few answers show how quick the host is', 'all of them may have been late',
    { 'remote/gate/rate-window.ts': { FIRST: () => 0 } }],
  [500_000_001, 'a request without an answer counts as arrived', 'it may arrive as late as one that is answered',
    { 'remote/gate/rate-window.ts': { UNDER_WAY_MS: () => 22 } }],
  [500_000_006, 'an emptied store gives places at once', 'what was sent in the last second does not count',
    { 'shared/rate-script.ts': { RATE: inLua('was_away', 'false') } }],
  [500_000_001, 'a machine that is cut off counts as dead', 'the others take its part, and it goes on',
    { 'shared/rate-script.ts': { RATE: inLua('is_connected', 'false') } }],
  [520_000_143, 'a machine that was cut off and dies gives its part back at once', 'what it sent last still counts',
    { 'shared/rate-script.ts': { RATE: inLua('just_gone', 'false') } }],
  [500_000_007, 'nobody is left a part without the store', 'a machine that is cut off sends beside the whole rate',
    { 'shared/account.ts': { beat: given(2, 'share', null) } }],
  [500_000_008, 'a machine does not say that it is alone',
    'a machine whose answers get lost looks alive, and uses its part besides',
    { 'shared/account.ts': { beat: given(2, 'alone', false) } }],
  [500_000_004, 'a machine without the store uses its part at once', 'the others do not know yet',
    { 'shared/shared-window.ts': { SILENT_MS: () => 1000 } }],
  [500_000_004, 'a machine without the store keeps the whole rate', 'all machines together send too much',
    { 'shared/shared-window.ts': { 'SharedWindow.#waitAloneMs.part': () => 1e6 } }],
  [505_000_101, 'a place is used however old it is',
    'a machine that was stopped uses places that are those of other machines by now',
    { 'shared/shared-window.ts': { 'SharedWindow.take.isOver': never } }],
  [581_000_116, 'a place is used after a stop', 'the store may have lost the place while the machine was stopped',
    { 'shared/shared-window.ts': { 'SharedWindow.take.taken': () => Number.POSITIVE_INFINITY } }],
  [505_000_334, 'a machine that was stopped uses its part at once',
    'the store was started again meanwhile, so the others have its part',
    { 'shared/account.ts': { STOPPED_MS: () => Number.POSITIVE_INFINITY } }],
  [500_000_008, 'a machine that comes back tells nothing', 'what it sent without the store does not count',
    { 'shared/shared-window.ts': { 'SharedWindow.#comeBack': idle } }],
  [560_001_450, 'a question that is answered has told all',
    'a request that left without the store meanwhile does not count',
    { 'shared/shared-window.ts': toldAll() }],
  [500_000_006, 'places of which nothing is heard count for ever', 'the others never get the whole rate again',
    { 'shared/rate-script.ts': { OPEN_MS: () => 1e12 } }],
  [500_000_008, 'the quota is told to nobody', 'others ask for what one was refused',
    { 'shared/account.ts': { 'openAccount.hearRefusals': idle } }],
  [500_000_364, 'a machine that was alone says goodbye', 'the others take its part while what it sent still counts',
    { 'shared/account.ts': { 'openAccount.isAllTold': always } }],
]
