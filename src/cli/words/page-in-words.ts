import type { PageNow } from '../../page/ask.ts'
import { printable, sizeInWords } from './wording.ts'

/** What `status` says of what is on its way, and of where a browser sees more. */
export function pageInWords(now: PageNow | null): string[] {
  if (now === null) return []
  const { page, uploading } = now
  const where = page.url ?? page.why
  return [
    ...uploading.map(
      ({ path, sent, size }) => `sending ${printable(path)}: ${sizeInWords(sent)} of ${sizeInWords(size)}`,
    ),
    ...(where === null ? [] : [`page    ${where}`]),
  ]
}
