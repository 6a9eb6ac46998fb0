import * as value from './values.ts'

/** What several machines with one account share. */
export const accountSection = value.section({
  shared: value.storeUrl.optional().meta({
    description:
      'The Redis or Valkey (7 or later) through which the machines of one account share its rates, its quota and its ' +
      'albums: redis://, or rediss:// with TLS. All of them name the same one, and have the same host.base_url and the ' +
      'same API key. Left out, this machine uses the account as if it were alone.',
    example: 'redis://192.168.1.2:6379',
    secret: true,
  }),
  shared_password_file: value
    .path('the path of a file that holds the password')
    .optional()
    .meta({
      description:
        'The file that holds the password of shared, readable by albumd alone. Left out, the password is taken from the ' +
        'systemd credential "shared-password", or else from the address.',
      example: '/etc/albumd/shared-password',
      secret: true,
    }),
  shared_ca_file: value.path('the path of a PEM file').optional().meta({
    description: 'The certificate authority (PEM) of a rediss:// address that has an authority of its own.',
    example: '/etc/albumd/shared-ca.pem',
  }),
  machine: value.machineName.optional().meta({
    description:
      'The name of this machine. No other machine of the account may have it. Left out, it is the host name.',
    example: 'studio-1',
  }),
  when_away: value.share.prefault('1/8').meta({
    description:
      'The part of each rate that this machine uses while shared cannot be reached. The parts of all machines together ' +
      'should not be more than the whole.',
  }),
})
