import { ignoreClosedPipe } from '../src/cli/ignore-closed-pipe.ts'
import type { PlatformOptions } from '../src/compose/settings-of.ts'
import type { ProviderRegistry } from '../src/provider/registry.ts'
import { codeCacheOfBundle } from './code-cache-of-bundle.ts'

/**
 * What every leaf takes from its platform: `WCP_CONFIG` names the configuration file, `WCP_CONFIG_YAML` is the
 * configuration itself, and `WCP_KUBECONFIG_YAML` the kubeconfig, where there are no files.
 */
export function fromEnvironment(registry: ProviderRegistry): PlatformOptions {
  ignoreClosedPipe([process.stdout, process.stderr])
  return {
    configFile: process.env['WCP_CONFIG'] ?? '/etc/webhook-cloud-provider/config.yaml',
    environment: process.env,
    registry,
    codeCache: codeCacheOfBundle(),
    write: (line) => void process.stdout.write(line),
  }
}
