/** The rooms and their arrows: what may be imported from where. */
const rooms = {
  protocol: [],
  local: ['protocol'],
  remote: ['protocol'],
  synced: ['protocol', 'local'],
  sync: ['protocol', 'local', 'remote', 'synced'],
  config: ['protocol'],
  host: ['protocol'],
  daemon: ['protocol', 'local', 'remote', 'synced', 'sync', 'config'],
  page: ['protocol', 'local', 'remote', 'synced', 'sync', 'config', 'daemon'],
  cli: ['protocol', 'local', 'remote', 'synced', 'sync', 'config', 'daemon', 'page', 'host'],
}

module.exports = {
  forbidden: [
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
