import { registerHooks } from 'node:module'

/**
 * `node loaded-modules.ts [ENDPOINT]`: starts the function over a control plane in memory, with traces if an endpoint is
 * given, serves one review, and prints which modules of OpenTelemetry that took.
 */
const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    // The API, a facade without anything behind it, comes with prom-client.
    if (/opentelemetry\/(?!api\/)|adapters\/tracing/.test(url)) loaded.push(url)
    return next(url, context)
  },
})

const [endpoint] = process.argv.slice(2)
const { startTelemetry } = await import('../../src/compose/telemetry.ts')
const { createWorld } = await import('./world.ts')
const { silentLogger } = await import('./silent-logger.ts')
const { buildIngress } = await import('./build-objects.ts')
const { buildReview } = await import('./build-review.ts')
const { createSystemClock } = await import('../../src/adapters/system/system-clock.ts')

const config = createWorld(
  endpoint === undefined ? {} : { config: `telemetry: { traces: { endpoint: '${endpoint}' } }` },
).config
const telemetry = await startTelemetry(config, { clock: createSystemClock(), logger: silentLogger })
const world = createWorld({ telemetry })
await world.create(buildIngress())
await world.http('POST', '/admission/notify', buildReview('CREATE', buildIngress()))
await world.clock.advance(10_000)
await telemetry.close()
process.stdout.write(JSON.stringify({ calls: world.calls(), loaded: loaded.length }))
