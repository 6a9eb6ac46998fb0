import { join } from 'node:path'

/** The pictures that `albumd try` shows: beside this file in the sources, and beside the program in the package. */
export const SAMPLES = join(import.meta.dirname, 'try/pictures')
