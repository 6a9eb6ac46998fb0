import { expect } from 'vitest'
import { type Booted, seldom } from './booted.ts'

/** A machine of its own is started for each, and albumd several times. */
export const inTime = { timeout: 900_000 }

/** Installs the service, which must succeed. */
export async function installed(booted: Booted): Promise<void> {
  const ended = await booted.service('install')
  if (ended.code !== 0) throw new Error(`${ended.out}${ended.err}${booted.err()}`)
}

/** Waits until the host has these pictures, and no others. */
export async function mirrored(booted: Booted, ...names: string[]): Promise<void> {
  const paths = names.map(name => `Photos/${name}`).sort()
  try {
    await expect.poll(booted.paths, seldom).toEqual(paths)
    // Their bytes are fetched only now.
    expect(Object.keys(await booted.delivered()).sort()).toEqual(paths)
  } catch (error) {
    const log = booted
      .log()
      .slice(-20)
      .map(told => JSON.stringify(told))
    throw new Error(`${names.join(', ')}: ${[...log, booted.err()].join('\n')}`, { cause: error })
  }
}
