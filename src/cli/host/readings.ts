import { type Listed, listReadings } from '../../host/readings.ts'
import { writeOut } from '../terminal/output.ts'

/** Prints what the host chose where the specification leaves it open, and what else may be taken. */
export async function printReadings(json: boolean): Promise<void> {
  const listed = listReadings()
  const pieces = json ? [`${JSON.stringify({ readings: listed })}\n`] : listed.map(inWords)
  await writeOut(process.stdout, pieces)
}

function inWords({ at, name, taken, says, others }: Listed): string {
  return name === null ? `${at}  ${says}\n` : `${name}=${taken}\n    ${at}  ${says}\n    or ${others}\n`
}
