import { lineProgress, type Progress } from './progress.ts'

/** A bar on a terminal, lines elsewhere. What draws the bar is loaded where one is drawn. */
export async function progressOn(out: NodeJS.WriteStream): Promise<Progress> {
  if (!out.isTTY) return lineProgress(out)
  const { barProgress } = await import('./bar-progress.ts')
  return barProgress(out)
}
