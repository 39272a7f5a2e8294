import assert from 'node:assert/strict'
import type { Scenario } from '../scenario.ts'

export const scenario: Scenario = {
  name: 'kubectl applies an object, reads it and deletes it',
  async run({ kubectl }) {
    const namespace = 'kubectl-example'
    const object = {
      apiVersion: 'networking.karmada.io/v1alpha1',
      kind: 'MultiClusterIngress',
      metadata: { name: 'web', namespace },
      spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    }
    await kubectl(['create', 'namespace', namespace])
    await kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(object))
    const { stdout } = await kubectl(['get', 'mci', 'web', '-n', namespace, '-o', 'jsonpath={.metadata.generation}'])
    assert.equal(stdout, '1')
    await kubectl(['delete', 'mci', 'web', '-n', namespace])
  },
}
