// The rings of DESIGN §3, one rule a ring: what may be imported from where. Type imports count.
const inSource = (...folders) => `^src/(${folders.join('|')})/`
const npm = { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'] }

/** A ring may import its own folders, the rings below it, and nothing else of src. */
const ring = (name, folders, below, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: inSource(...folders) },
  to: { path: '^(src|functions|test|bench)/', pathNot: inSource(...folders, ...below) },
})

/** A library that only one part of the code may know. */
const only = (library, folders) => ({
  name: `${library.replace(/\W+/g, '-')}-only-in-${folders.join('-and-').replace(/\W+/g, '-')}`,
  severity: 'error',
  from: { path: '^(src|functions)/', pathNot: folders.map((folder) => `^src/${folder}/`) },
  to: { path: `(^|node_modules/)${library}(/|$)` },
})

module.exports = {
  forbidden: [
    ring('domain-imports-itself', ['domain'], [], 'what is true needs nobody else'),
    ring('provider-and-ports-know-domain', ['provider', 'ports'], ['domain'], 'contracts, no code that runs'),
    ring('reconcilers-and-flow-know-contracts', ['reconcilers', 'flow'], ['domain', 'provider', 'ports'], 'the path'),
    ring(
      'outer-ring-knows-the-path',
      ['adapters', 'providers', 'local'],
      ['domain', 'provider', 'ports', 'reconcilers', 'flow'],
      'adapters, providers and the local control plane',
    ),
    ring(
      'testing-knows-contracts',
      ['testing'],
      ['domain', 'provider', 'ports'],
      'the conformance kit: what a provider author runs, without the rest',
    ),
    ring(
      'config-knows-adapters',
      ['config'],
      ['domain', 'provider', 'ports', 'adapters'],
      'parses, reports and freezes; composes nothing',
    ),
    ring(
      'compose-knows-all-but-cli',
      ['compose'],
      ['domain', 'provider', 'ports', 'reconcilers', 'flow', 'adapters', 'providers', 'local', 'config'],
      'where adapters meet ports',
    ),
    {
      name: 'no-adapter-to-adapter',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: '^src/adapters/$1/' },
    },
    {
      name: 'no-provider-to-provider',
      severity: 'error',
      from: { path: '^src/providers/([^/]+)/' },
      to: { path: '^src/providers/', pathNot: '^src/providers/$1/' },
    },
    {
      name: 'no-outer-part-to-another',
      severity: 'error',
      from: { path: '^src/(adapters|providers|local)/' },
      to: { path: '^src/(adapters|providers|local)/', pathNot: '^src/$1/' },
    },
    {
      name: 'src-knows-no-function-or-test',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(functions|test|bench)/' },
    },
    {
      name: 'inner-rings-need-no-library',
      comment: 'domain, contracts and the path run anywhere, with nothing installed',
      severity: 'error',
      from: { path: inSource('domain', 'provider', 'ports', 'reconcilers', 'flow', 'testing') },
      to: npm,
    },
    {
      name: 'inner-rings-need-no-node',
      severity: 'error',
      from: { path: inSource('domain', 'provider', 'ports', 'reconcilers', 'flow') },
      to: { dependencyTypes: ['core'] },
    },
    only('fastify', ['adapters/http', 'adapters/provider-server', 'local', 'compose']),
    only('light-my-request', ['adapters/http']),
    only('@kubernetes/client-node', ['adapters/kubernetes']),
    only('pino', ['adapters/logging']),
    only('jose', ['adapters/oidc']),
    only('prom-client', ['adapters/metrics']),
    only('@nats-io/[^/]+', ['adapters/jetstream']),
    only('@peculiar/x509', ['adapters/certificates']),
    only('@opentelemetry/[^/]+', ['adapters/tracing']),
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // What the build makes; the package's own name leads there.
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
}
