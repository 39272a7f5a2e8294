import { createProtocolValidator } from '../adapters/schema/create-protocol-validator.ts'
import { createProviderRegistry, type ProviderRegistry } from '../provider/registry.ts'
import { caddyProviderFactory } from '../providers/caddy/caddy-provider.ts'
import { exampleProviderFactory } from '../providers/example/example-provider.ts'
import { fakeProviderFactory } from '../providers/fake/fake-provider.ts'
import { haproxyProviderFactory } from '../providers/haproxy/haproxy-provider.ts'
import { httpProviderFactory } from '../providers/http/http-provider.ts'

/** The providers that come with this package. A function of your own registers its own beside or instead. */
export function builtInProviders(): ProviderRegistry {
  return createProviderRegistry({
    caddy: caddyProviderFactory,
    example: exampleProviderFactory,
    fake: fakeProviderFactory,
    haproxy: haproxyProviderFactory,
    http: httpProviderFactory(createProtocolValidator()),
  })
}
