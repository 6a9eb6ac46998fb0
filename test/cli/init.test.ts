import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { whatNext } from '../../src/cli/commands/init.ts'
import { wrapped } from '../../src/cli/terminal/fitted.ts'
import { tempFolder } from '../temp-folder.ts'

describe('what init says in the end', () => {
  const next = (file: string, handedIn: boolean, program?: string, isSystemd = true) =>
    whatNext(file, handedIn, program, isSystemd).join('\n')

  it('names no run by hand where systemd alone hands in the key: it would find none', () => {
    const said = next('/etc/albumd/config.yaml', true, 'albumd')
    expect(said).toContain('\nkeep it mirrored        albumd service install')
    expect(said).not.toContain('albumd run')
  })

  it('names a run, and no service, where systemd has not started the machine', () => {
    const said = next('/etc/albumd/config.yaml', true, 'albumd', false)
    expect(said).toContain('\nkeep it mirrored        albumd run')
    expect(said).not.toContain('service install')
  })

  it('names a run, and the service beside it, where the config names the key', () => {
    const said = next('/etc/albumd/config.yaml', false, 'albumd')
    expect(said).toContain('\nkeep it mirrored        albumd run')
    expect(said).toContain('\nhave systemd do that    albumd service install')
  })

  it('calls albumd as npx does where npx has started it', () => {
    const said = next('/etc/albumd/config.yaml', false, 'npx albumd')
    expect(said).toMatch(/^see what it would do {4}npx albumd sync --dry-run/)
    expect(said).toContain('    npx albumd service install')
  })

  it('names the config only where albumd would not find it', () => {
    const home = tempFolder()
    vi.stubEnv('XDG_CONFIG_HOME', home)
    vi.stubEnv('ALBUMD_CONFIG', undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    mkdirSync(join(home, 'albumd'))
    for (const name of ['config.yaml', 'other one.yaml']) writeFileSync(join(home, 'albumd', name), '')
    expect(next(join(home, 'albumd/config.yaml'), false)).not.toContain('--config')
    expect(next(join(home, 'albumd/other one.yaml'), false)).toContain(
      ` doctor --config '${home}/albumd/other one.yaml'\n`,
    )
  })
})

it.each([40, 80])('a question fits %d columns', width => {
  const words = 'How long do old images stay when many pictures, 写真は, are deleted or changed at once [1d]:'
  const lines = wrapped(words, width)
  for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width)
  expect(lines.join(' ')).toBe(words)
  expect(wrapped(words)).toEqual([words])
})
