import { ignoreClosedPipe } from '../src/cli/ignore-closed-pipe.ts'
import { builtInProviders } from '../src/cli/providers.ts'
import type { FunctionOptions } from '../src/compose/run-function.ts'
import { codeCacheOfBundle } from './code-cache-of-bundle.ts'

/**
 * What every leaf takes from its platform: `WCP_CONFIG` names the configuration file, `WCP_CONFIG_YAML` is the
 * configuration itself, and `WCP_KUBECONFIG_YAML` the kubeconfig, where there are no files.
 */
export function fromEnvironment(): Omit<FunctionOptions, 'stopped'> {
  ignoreClosedPipe([process.stdout, process.stderr])
  return {
    configFile: process.env['WCP_CONFIG'] ?? '/etc/webhook-cloud-provider/config.yaml',
    environment: process.env,
    registry: builtInProviders(),
    codeCache: codeCacheOfBundle(),
    write: (line) => void process.stdout.write(line),
  }
}
