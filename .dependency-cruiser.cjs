/** The rooms and their arrows: what may be imported from where. */
const rooms = {
  words: [],
  protocol: [],
  local: ['words', 'protocol'],
  remote: ['words', 'protocol'],
  synced: ['words', 'protocol', 'local'],
  shared: ['words', 'protocol'],
  records: ['words', 'protocol', 'local', 'synced'],
  sync: ['words', 'protocol', 'local', 'remote', 'synced', 'records'],
  config: ['words', 'protocol'],
  host: ['protocol'],
  daemon: ['words', 'protocol', 'local', 'remote', 'synced', 'shared', 'records', 'sync', 'config'],
  page: ['words', 'protocol', 'local', 'remote', 'synced', 'shared', 'records', 'sync', 'config', 'daemon'],
  cli: [
    'words',
    'protocol',
    'local',
    'remote',
    'synced',
    'shared',
    'records',
    'sync',
    'config',
    'daemon',
    'page',
    'host',
  ],
}

/** The folders of rooms. Each may import from the folders before it in this order. */
const order = {
  protocol: ['picture', 'likeness'],
  sync: ['quota', 'listing', 'delivered', 'albums', 'scan', 'uploads', 'deletions', 'audit'],
  daemon: [
    'state',
    'watch',
    'heic',
    'report',
    'notify',
    'engine',
    'commands',
    'control',
    'loop',
    'doctor',
    'restore',
    'intake',
  ],
}

module.exports = {
  forbidden: [
    // src/daemon has no such entries: the command line loads single files, so that it starts quickly.
    ...order.sync.map(folder => ({
      name: `sync-${folder}-has-one-entry`,
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/sync/${folder}/` },
      to: { path: `^src/sync/${folder}/`, pathNot: '/index[.]ts$' },
    })),
    ...Object.entries(order).flatMap(([room, folders]) =>
      folders.slice(0, -1).map((folder, at) => ({
        name: `${room}-${folder}-knows-the-folders-before-it`,
        severity: 'error',
        from: { path: `^src/${room}/${folder}/` },
        to: { path: folders.slice(at + 1).map(later => `^src/${room}/${later}/`) },
      })),
    ),
    ...Object.entries(rooms).map(([room, below]) => ({
      name: `${room}-knows-what-is-below`,
      comment: `src/${room} may import from ${below.join(', ') || 'no other room'}.`,
      severity: 'error',
      from: { path: `^src/${room}/` },
      to: { path: '^src/', pathNot: [room, ...below].map(name => `^src/${name}/`) },
    })),
    {
      name: 'no-circles',
      comment: 'src/sync/context.ts names the types of what its folders make, and those folders take it.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { pathNot: '^src/sync/context[.]ts$' } },
    },
    {
      name: 'context-is-types-alone',
      severity: 'error',
      from: { path: '^src/sync/context[.]ts$' },
      to: { dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-tests-in-the-house', severity: 'error', from: { path: '^src/' }, to: { path: '^test/' } },
    {
      name: 'what-is-shipped-depends-on-what-is-shipped',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'unknown', 'undetermined'],
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // TypeScript 7 has no API yet that the cruiser could read with.
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
