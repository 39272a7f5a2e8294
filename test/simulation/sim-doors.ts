import { applyPatch, type Operation } from 'rfc6902'
import type { AdmissionRequest } from '../../src/domain/admission-request.ts'
import type { ClusterEvent } from '../../src/domain/cluster-event.ts'
import { kindOf } from '../../src/domain/kinds.ts'
import type { AdmissionAttributes, AdmissionChain } from '../../src/local/core/admission-chain.ts'
import { forbidden } from '../../src/local/core/status-error.ts'
import type { CallToDecide, Decisions } from './decisions.ts'
import type { ReviewFault } from './history.ts'
import type { Journal } from './journal.ts'
import type { Scheduler } from './scheduler.ts'
import { IDENTITY } from './sim-config.ts'
import type { SimProcess } from './sim-process.ts'

export interface DoorParts {
  scheduler: Scheduler
  decisions: Pick<Decisions, 'review'>
  journal: Journal
  countCall: (label: string) => string
  /** Whoever answers at the door now; the how-manyth of them. Undefined: nobody does. */
  reachable: (which: number) => SimProcess | undefined
  onReview: (delivered: boolean) => void
  rules: DoorRules
}

/** What the webhooks are registered for. */
export interface DoorRules {
  mutates(attributes: AdmissionAttributes): boolean
  notifies(attributes: AdmissionAttributes): boolean
}

/** Over clusters. */
export const KARMADA_RULES: DoorRules = {
  mutates: ({ operation, type }) =>
    (type.kind === 'MultiClusterIngress' || type.kind === 'MultiClusterService') && operation !== 'DELETE',
  notifies: ({ subresource, type }) => subresource === '' && NOTIFIED.has(type.kind),
}

const NOTIFIED = new Set([
  'MultiClusterIngress',
  'MultiClusterService',
  'Service',
  'EndpointSlice',
  'ResourceBinding',
  'IngressClass',
])

/** The webhooks as the API server calls them, in this process: one step from the question to the answer, before the commit. */
export function createSimDoors({
  scheduler,
  decisions,
  journal,
  countCall,
  reachable,
  onReview,
  rules,
}: DoorParts): AdmissionChain {
  /** The function's own writes pass no review (the conditions of the webhooks see to that). */
  const isReviewed = (attributes: AdmissionAttributes) =>
    attributes.user.username !== IDENTITY && !attributes.dryRun && rules.notifies(attributes)

  function review<T>(
    stage: string,
    { operation, type, name }: AdmissionAttributes,
    deliver: (fault: ReviewFault | undefined, receivers: SimProcess[]) => T,
  ): Promise<T> {
    const id = countCall(`review ${stage} ${operation} ${type.kind} ${name}`)
    const call: CallToDecide = { id, what: 'review' }
    const fault = decisions.review(call)
    if (fault !== undefined) journal.fault(id, fault)
    return new Promise<T>((resolve, reject) => {
      const run = () => {
        try {
          resolve(deliver(fault, receiversOf(fault)))
        } catch (error) {
          reject(error)
        }
      }
      scheduler.add({ label: id, owner: undefined, at: scheduler.now(), run })
    })
  }

  function receiversOf(fault: ReviewFault | undefined): SimProcess[] {
    if (fault?.review === 'lost') return []
    const first = reachable(fault?.review === 'another' ? 1 : 0)
    const second = fault?.review === 'twice' ? reachable(1) : undefined
    return [first, second].filter((instance) => instance !== undefined)
  }

  return {
    async mutate(attributes) {
      const { object } = attributes
      if (!isReviewed(attributes) || !rules.mutates(attributes)) return object
      return review('mutate', attributes, (_fault, [receiver]) => {
        const patch = receiver?.mutate(requestOf(attributes)) ?? []
        if (patch.length === 0) return object
        const patched = structuredClone(object)
        applyPatch(patched, patch as Operation[])
        return attributes.decode(patched)
      })
    },
    async mutateDeletion() {},
    async validate(attributes) {
      if (!isReviewed(attributes)) return
      await review('notify', attributes, (fault, receivers) => {
        onReview(receivers.length > 0)
        for (const receiver of receivers) receiver.accept(eventOf(attributes))
        if (fault?.review === 'twice') receivers[0]?.accept(eventOf(attributes))
        if (fault?.review === 'refused') {
          const { type, name } = attributes
          throw forbidden({ group: type.group, plural: type.plural }, name, 'not today')
        }
      })
    },
  }
}

function requestOf({
  operation,
  type,
  namespace,
  name,
  user,
  object,
  oldObject,
  dryRun,
}: AdmissionAttributes): AdmissionRequest {
  return {
    uid: 'review',
    operation,
    group: type.group,
    kind: type.kind,
    subResource: '',
    namespace,
    name,
    username: user.username,
    dryRun,
    ...(object && { object }),
    ...(oldObject && { oldObject }),
  }
}

function eventOf({ operation, type, namespace, name, user, object, oldObject }: AdmissionAttributes): ClusterEvent {
  return {
    source: 'admission',
    operation,
    group: type.group,
    kind: kindOf(type.group, type.kind) ?? type.kind,
    namespace,
    name: name === '' ? ((oldObject ?? object)?.metadata.name ?? '') : name,
    username: user.username,
    receivedAt: 0,
    ...(object && operation !== 'DELETE' && { object }),
    ...(oldObject && { oldObject }),
  }
}
