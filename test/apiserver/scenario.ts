import type { ApiClient } from '../contracts/kubernetes-api/api-client.ts'
import type { ApiServer } from './start-api-server.ts'

/** Something that must work against the real API server. The file below scenarios/ exports `scenario` or `scenarios`. */
export interface Scenario {
  name: string
  /** For one that mostly waits: played on an API server of its own, beside the others. */
  beside?: true
  run(context: ScenarioContext): Promise<void>
}

/** The scenarios of one server run one after the other: each in namespaces of its own, each cleaning up its webhooks. */
export interface ScenarioContext {
  server: ApiServer
  admin: ApiClient
  /** kubectl as admin; fails with what it wrote to stderr. */
  kubectl(parameters: readonly string[], input?: string): Promise<{ stdout: string; stderr: string }>
  log(line: string): void
}
