import type { PageNow } from '../../page/ask.ts'
import { printable, sizeInWords } from './wording.ts'

/** The lines of `status` about uploads under way, and about the address of the page. */
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
