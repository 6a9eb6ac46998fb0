import { existsSync, renameSync } from 'node:fs'
import { freeName } from './migrate.ts'

/** What SQLite keeps beside a database. A log that stayed behind would be read into the next one. */
const PARTS = ['-wal', '-shm', '-journal', '']

/** Moves a damaged database out of the way, with all that belongs to it. `now`: of the wall clock. Answers its name. */
export function setAside(file: string, now: number): string {
  const moment = new Date(now).toISOString().replace(/\.\d+/, '').replaceAll(':', '-')
  const aside = freeName(`${file}.damaged-${moment}`)
  for (const part of PARTS) if (existsSync(file + part)) renameSync(file + part, aside + part)
  return aside
}
