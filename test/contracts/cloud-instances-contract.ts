import type { Node } from '../../src/domain/node.ts'
import type { CloudContext, CloudProvider } from '../../src/provider/cloud.ts'
import { isProviderError } from '../../src/provider/errors.ts'

/** Nodes that the provider under test knows, and one that it does not. */
export interface InstancesUnderTest {
  cloudProvider: CloudProvider
  running: Node
  stopped: Node
  missing: Node
  /** With a providerID of another cloud. */
  foreign: Node
}

/**
 * What the node controllers rely on, and what is wrong with a provider that does otherwise: nothing for one that keeps
 * the contract. A node is deleted by these answers.
 */
export async function instancesFindings(tested: InstancesUnderTest, context: CloudContext): Promise<string[]> {
  const { cloudProvider, running, stopped, missing, foreign } = tested
  const v2 = cloudProvider.instancesV2?.()
  if (v2 === undefined) return ['it has no InstancesV2']
  const findings: (string | undefined)[] = [
    await expected('instanceExists of a running instance', true, () => v2.instanceExists(running, context)),
    await expected('instanceExists of a stopped instance', true, () => v2.instanceExists(stopped, context)),
    await expected('instanceShutdown of a stopped instance', true, () => v2.instanceShutdown(stopped, context)),
    await expected('instanceShutdown of a running instance', false, () => v2.instanceShutdown(running, context)),
    await absent('instanceExists of an instance that is gone', () => v2.instanceExists(missing, context)),
    await refused('instanceExists of a node of another cloud', () => v2.instanceExists(foreign, context)),
  ]
  return findings.filter((finding) => finding !== undefined)
}

async function expected(what: string, answer: boolean, ask: () => Promise<boolean>): Promise<string | undefined> {
  try {
    const given = await ask()
    return given === answer ? undefined : `${what} must answer ${answer}`
  } catch (error) {
    return `${what} must answer ${answer}, and throws ${String(error)}`
  }
}

/** False, or the sentinel: any other error means "could not be asked", and the node would stay for ever (C-108). */
async function absent(what: string, ask: () => Promise<boolean>): Promise<string | undefined> {
  try {
    return (await ask()) ? `${what} must answer false` : undefined
  } catch (error) {
    if (isProviderError(error) && error.kind === 'InstanceNotFound') return undefined
    return `${what} must answer false or throw InstanceNotFound, and throws ${String(error)}`
  }
}

/** Never "gone" (R-LIFE-6). */
async function refused(what: string, ask: () => Promise<boolean>): Promise<string | undefined> {
  try {
    return (await ask()) ? undefined : `${what} must not answer false: the node would be deleted`
  } catch {
    return undefined
  }
}
