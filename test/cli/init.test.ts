import { describe, expect, it } from 'vitest'
import { epilogue } from '../../src/cli/commands/init.ts'

describe('what init says in the end', () => {
  it('names no run by hand where systemd alone hands in the key: it would find none', () => {
    const said = epilogue('/etc/albumd/config.yaml', '/etc/albumd/api-key', true, 'albumd')
    expect(said).toContain('\nkeep it mirrored        albumd service install')
    expect(said).not.toContain('albumd run')
  })

  it('names a run, and the service beside it, where the config names the key', () => {
    const said = epilogue('/etc/albumd/config.yaml', null, false, 'albumd')
    expect(said).toContain('\nkeep it mirrored        albumd run --config /etc/albumd/config.yaml')
    expect(said).toContain('\nhave systemd do that    albumd service install')
  })

  it('calls albumd as npx does where npx has started it', () => {
    const said = epilogue('/etc/albumd/config.yaml', null, false, 'npx albumd')
    expect(said).toContain('\nsee what it would do    npx albumd sync --dry-run --config ')
    expect(said).toContain('    npx albumd service install')
  })
})
