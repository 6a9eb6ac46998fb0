import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findTools, TOOLS } from '../../bench/machine/tools.ts'

const ALL = TOOLS.map(({ name }) => name)
const without = (...names: string[]) => ALL.filter(name => !names.includes(name))

describe("the bench's tools", () => {
  let folder = ''

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'albumd-tools-'))
    vi.stubEnv('PATH', folder)
  })

  afterEach(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })

  /** Finds tools where there are no others. */
  function found(names: readonly string[]) {
    for (const name of names) writeFileSync(join(folder, name), '#!/bin/sh\necho 1.2.3\n', { mode: 0o755 })
    const lines: string[] = []
    return { names: [...findTools(line => lines.push(line)).keys()], lines }
  }

  it('are found without a word', () => {
    expect(found(ALL)).toEqual({ names: ALL, lines: [] })
  })

  it('are to be installed by hand where there is no apt-get, says one line', () => {
    expect(found(without('rclone', 'cc'))).toEqual({
      names: without('rclone', 'cc'),
      lines: [
        'missing, so that what needs it is left out: rclone, cc (there is no apt-get here: install by hand)',
      ],
    })
  })

  it('are left out where apt-get did not install them', () => {
    const [first, second, third, ...more] = found([...without('rclone'), 'apt-get']).lines
    expect(first).toBe('apt-get installs rclone')
    expect(second).toMatch(/^apt-get update did not work \(/)
    expect(third).toBe('missing, so that what needs it is left out: rclone')
    expect(more).toEqual([])
  })

  it('do not matter without time', () => {
    expect(found(without('time', 'rclone'))).toEqual({ names: without('time', 'rclone'), lines: [] })
  })
})
