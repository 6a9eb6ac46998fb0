import { describe, expect, it } from 'vitest'
import { epilogue } from '../../src/cli/commands/init.ts'

describe('what init says in the end', () => {
  it('names no run by hand where systemd alone hands in the key: it would find none', () => {
    const said = epilogue('/etc/albumd/config.yaml', '/etc/albumd/api-key', true)
    expect(said).toContain('\nkeep it mirrored        albumd service install')
    expect(said).not.toContain('albumd run')
  })

  it('names a run, and the service beside it, where the config names the key', () => {
    const said = epilogue('/etc/albumd/config.yaml', null, false)
    expect(said).toContain('\nkeep it mirrored        albumd run --config /etc/albumd/config.yaml')
    expect(said).toContain('\nhave systemd do that    albumd service install')
  })
})
