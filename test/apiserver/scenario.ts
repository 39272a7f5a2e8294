import type { ApiClient } from '../contracts/kubernetes-api/api-client.ts'
import type { ApiServer } from './start-api-server.ts'

/** Something that must work against the real API server. The file below scenarios/ exports `scenario` or `scenarios`. */
export interface Scenario {
  name: string
  run(context: ScenarioContext): Promise<void>
}

/** Scenarios run one after the other on one server: each in namespaces of its own, each cleaning up its webhooks. */
export interface ScenarioContext {
  server: ApiServer
  admin: ApiClient
  /** kubectl as admin; fails with what it wrote to stderr. */
  kubectl(parameters: readonly string[], input?: string): Promise<{ stdout: string; stderr: string }>
  log(line: string): void
}
