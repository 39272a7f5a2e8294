import { createProviderRegistry, type ProviderRegistry } from '../provider/registry.ts'

/** The providers that come with this package. A function of your own registers its own beside or instead. */
export function builtInProviders(): ProviderRegistry {
  return createProviderRegistry(
    {},
    {
      caddy: async () => (await import('../providers/caddy/caddy-provider.ts')).caddyProviderFactory,
      example: async () => (await import('../providers/example/example-provider.ts')).exampleProviderFactory,
      fake: async () => (await import('../providers/fake/fake-provider.ts')).fakeProviderFactory,
      haproxy: async () => (await import('../providers/haproxy/haproxy-provider.ts')).haproxyProviderFactory,
      async http() {
        const { createProtocolValidator } = await import('../adapters/schema/create-protocol-validator.ts')
        const { httpProviderFactory } = await import('../providers/http/http-provider.ts')
        return httpProviderFactory(createProtocolValidator())
      },
    },
  )
}
