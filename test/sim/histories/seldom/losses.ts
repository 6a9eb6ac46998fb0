import { byTime, type History } from '../history.ts'
import { at, HOURLY, SILENT, THREE } from '../parts.ts'
import { PLAIN } from '../variations.ts'

/** The state is lost, and what the host holds is taken for ours, or not. */
// biome-ignore format: a history is a row.
export const LOSSES: readonly History[] = [
  // The state is lost, and the host tells where it delivers.
  { ...THREE, seed: 1_000_000_216, variations: { ...PLAIN, namesBase: true },
    actions: [at(1, 'loseState', 0, 2), at(2, 'change', 0, 1), at(2, 'add', 48, 6), at(3, 'compareLinks')] },
  // The state is lost, nothing can be compared until a person asks for it, and one of the links is wrong.
  { ...HOURLY, seed: 1_000_000_217, variations: { ...PLAIN, cachesAbsence: true },
    actions: [at(1, 'loseState', 0, 2), at(1, 'changeUnseen'), at(1, 'adopt'), at(2, 'compareLinks')] },
  // The state is lost, nothing can be compared, and a picture that was linked changes.
  ...[SILENT, { ...PLAIN, cachesAbsence: true }].map((variations, number) => ({
    ...HOURLY,
    seed: 1_000_000_258 + number,
    pauses: [...HOURLY.pauses, 3_700_000],
    variations,
    actions: [at(1, 'loseState', 0, 2), at(2, 'change', 0, 5), at(2, 'changeUnseen', 1), at(3, 'remove', 1)],
  })),
  // A picture is linked to its image by name while it has other bytes, and then gets those of the image.
  { ...HOURLY, seed: 1_000_000_275, variations: { ...PLAIN, cachesAbsence: true },
    actions: [at(1, 'changeUnseen'), at(1, 'loseState', 0, 2), at(2, 'restoreOld', 0, 1)] },
  // Nobody can list what was sent before the state was lost.
  { ...HOURLY, seed: 1_000_000_276, variations: { ...PLAIN, without: ['list'] },
    actions: [at(1, 'loseState', 0, 2)] },
  // The state is lost, an upload then shows how addresses are built, and what is linked is compared.
  ...[
    [at(3, 'compareLinks')],
    // One was not seen before; one was another version before, and is so again; one goes, and one is copied.
    [at(1, 'folderUnreadable'), at(3, 'readable')],
    [at(1, 'changeUnseen'), at(3, 'restoreOld', 1, 1)],
    [at(3, 'remove', 2), at(3, 'copyTo', 0, 32)],
  ].map((more, number) => ({
    ...HOURLY,
    seed: 1_000_000_300 + number,
    pauses: [...HOURLY.pauses, 3_700_000],
    files: [
      [0, 1],
      [16, number === 3 ? 1 : 2],
      [number === 1 ? 1 : 32, 3],
    ] as History['files'],
    actions: [at(1, 'loseState', 0, 1), at(2, 'add', 48, 6), ...more].sort(byTime),
  })),
]
