import type { ChaosAction, Setting } from '../history.ts'

/** What stays as it is for a whole history of one cluster. */
export interface KubernetesSetting extends Pick<Setting, 'instances' | 'lock' | 'skewsMs'> {
  cloud: ClusterCloudSetting
  /** The class that is served; Services without one when absent. */
  loadBalancerClass?: string
  /** Whether reviews tell of what kubelets write. */
  nodeStatus: boolean
  refreshLabels: boolean
}

export interface ClusterCloudSetting {
  /** Until a call arrives. */
  latencyMs: number
  /** From the create of a balancer until it has an address. */
  delayMs: number
  /** The consistency window that the provider states; late commits stay within it. */
  windowMs: number
  /** Whether it can list its balancers. */
  lists: boolean
  /** Of the provider's interface. */
  form: 'newest' | '2019'
  /** How balancers reach nodes. */
  target: 'instance' | 'address'
}

export type ServiceName = 'web' | 'api'
export type NodeNumber = 1 | 2 | 3

/** What users, kubelets and the cloud's owners do. To what is not there nothing is done. */
export type KubernetesUserAction =
  | { do: 'create'; service: ServiceName; as: 'ours' | 'another' | 'inside' | 'foreign' }
  | { do: 'ports'; service: ServiceName; value: number }
  /** `wrong` is refused before the cloud is asked, `rebuild` by the cloud. */
  | { do: 'annotate'; service: ServiceName; how: 'none' | 'selects' | 'wrong' | 'rebuild' | number }
  | { do: 'label'; service: ServiceName; value: number }
  | { do: 'type'; service: ServiceName; to: 'ours' | 'another' | 'inside' }
  | { do: 'delete'; service: ServiceName }
  /** The cleanup finalizer, by hand. */
  | { do: 'strip'; service: ServiceName }
  /** All finalizers by hand, and gone. */
  | { do: 'vanish'; service: ServiceName }
  | { do: 'foreignFinalizer'; service: ServiceName; how: 'first' | 'last' | 'none' }
  | { do: 'status'; service: ServiceName; how: 'wrong' | 'cleared' }
  /** In the cloud's console. */
  | { do: 'balancer'; service: ServiceName; how: 'removed' | 'changed' }
  /** As kubelets register: `tainted` for an external cloud, `known` as from an older one, `bare` without any. */
  | { do: 'join'; node: NodeNumber; as: 'tainted' | 'known' | 'bare'; machine: 'there' | 'late' | 'none' }
  | { do: 'say'; node: NodeNumber; ready: boolean }
  | { do: 'leave'; node: NodeNumber }
  /** The first network that is free, from this one on. */
  | { do: 'podCidr'; node: NodeNumber; from: number; families: 1 | 2 }
  | {
      do: 'mark'
      node: NodeNumber
      with:
        | 'taint'
        | 'cloudTaint'
        | 'shutdownTaint'
        | 'exclusion'
        | 'team'
        | 'zone'
        | 'finalizer'
        | 'network'
        | 'nothing'
    }
  | {
      do: 'machine'
      node: NodeNumber
      how: 'appears' | 'stops' | 'starts' | 'vanishes' | 'moves' | 'changes'
    }
  | { do: 'route'; node: NodeNumber; how: 'removed' | 'stray' | 'outside' | 'foreign' }

export type KubernetesAction = KubernetesUserAction | ChaosAction
