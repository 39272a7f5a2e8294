import type { WatchedResource } from '../adapters/kubernetes/watched-resource.ts'
import type { LogLevel } from '../adapters/logging/pino-logger.ts'
import type { LabelSelector } from '../domain/label-selector.ts'
import type { Rate } from '../domain/token-bucket.ts'

/** The configuration, parsed, defaulted and frozen. The file's own form is `config-schema.ts`. */
export interface Config {
  /** Names this control plane in every balancer's identity; never change it while balancers exist. */
  clusterId: string
  provider: { name: string; options: Record<string, unknown> }
  /** Ours: `webhook-cloud-provider.dev/<provider>` unless set. */
  finalizer: string
  /** Whether objects that the Go manager holds are taken over, once the provider knows their balancers. */
  takeOver: boolean
  /**
   * What the API server is: `karmada` for balancers over clusters, `kubernetes` for one cluster and its cloud. By default
   * what the provider is for, `karmada` if it is for both.
   */
  controlPlane?: 'karmada' | 'kubernetes'
  /** Of `controlPlane: kubernetes`; each as the flag of a cloud controller manager. */
  cloud: {
    /** `--cluster-name`: passed to every call about balancers and routes. */
    clusterName: string
    /** `--allow-untagged-cloud`: serve although the provider does not mark what it makes with the cluster. */
    allowUntaggedCloud: boolean
    /** `--controllers`: `*`, `service`, `-route` … */
    controllers: string[]
    /** Serve the Services of this class, instead of those without one. */
    loadBalancerClass?: string
    /** `--configure-cloud-routes`: make routes to the pods of each node, where the provider can. */
    configureCloudRoutes: boolean
    /** `--cluster-cidr`: the network of the pods, or one of each family; routes within are ours to remove. */
    clusterCidr: string
    nodes: {
      /** Leave nodes alone whose providerID is another cloud's. */
      onlyOurs: boolean
      /** Whether labels follow the cloud after initialisation too. */
      refreshLabels: boolean
      /** How long after its creation a node that the cloud does not show is kept. */
      newNodeGraceMs: number
    }
  }
  ingressClass: {
    /** Compared with `spec.controller` of IngressClasses. */
    controller: string
    /** Class names known to be ours, for the mutating review. */
    names: string[]
    /** Whether one of them is the default class. */
    default: boolean
    /** Whose `status.serviceLocations` is written. */
    serviceLocations: 'owned' | 'all'
  }
  multiClusterServices: { selector: LabelSelector }
  backends: {
    /** Networks that endpoints may be in, as CIDRs; all when absent. */
    networks?: string[]
    /** Whether blocked clusters go on serving where all of a Service's clusters are blocked. */
    failOpen: boolean
    /** How long a pool whose endpoints vanished keeps what it had. */
    graceMs: number
  }
  /** Whether balancers of objects that are gone are removed, or only reported. */
  orphans: { remove: boolean }
  /** Whether ServiceExports and their policies are kept, so that endpoints come to the control plane. */
  propagation: { enabled: boolean }
  /** The user name under which we write, as the API server sees it. */
  identity?: string
  kubernetes: {
    kubeconfig?: string
    /** The kubeconfig itself, from the environment only. Never logged. */
    kubeconfigText?: string
    context?: string
    inCluster: boolean
    timeoutMs: number
  }
  server: { host: string; port: number; pathPrefix?: string; tls?: ServingFiles }
  /** Who may call which door, and how it proves it. Any one proof suffices. */
  callers: {
    admission: CallerProofs
    events: CallerProofs & { oidc?: OidcIssuer; rate: Rate }
    sweep: CallerProofs & { rate: Rate }
    /** Without a proof everyone may read them. */
    metrics: CallerProofs
    /** Whether doors without a proof, and without a secret path prefix, are open. */
    anyone: boolean
  }
  queue: {
    kind: 'memory' | 'cloudevents' | 'jetstream'
    /** Keys worked on at one time in this process. */
    concurrency: number
    /** Keys held at most. */
    capacity: number
    /** cloudevents: where work events go, unless `K_SINK` says so. */
    sink?: string
    /** cloudevents: of a bearer token; read for each request. */
    tokenFile?: string
    /** cloudevents: for one attempt. */
    timeoutMs: number
    /** jetstream: of one cluster. */
    servers: string[]
    /** jetstream: of the streams; whoever shares it shares the work. */
    name?: string
    /** jetstream: as `nsc` writes it. */
    credentialsFile?: string
    /** cloudevents and jetstream: PEM certificates that are trusted. */
    caFile?: string
    /** jetstream: copies of the stream. */
    replicas: number
    /** jetstream: after which silence another instance takes a key over. */
    ackWaitMs: number
    /** jetstream: handed out so often without an answer it is a dead letter. */
    maxDeliveries: number
  }
  /** `none` is for one instance; the default with a queue that several can share is `lease`. */
  lock: 'none' | 'lease'
  lease: {
    /** Where the Leases are; it must exist. */
    namespace: string
    /** Without renewal a lock is over after this time … */
    durationSeconds: number
    /** … and others wait this much longer, for clocks and answers that are late. */
    marginSeconds: number
  }
  work: {
    /** For one pass over one object. */
    deadlineMs: number
    /** For one call to the provider; shorter, so that its failure can still be published. */
    providerDeadlineMs: number
  }
  sweep: {
    pageSize: number
    concurrency: number
    deadlineMs: number
    /** How often the sweep is called; decides how large a share of balancers each verifies. */
    intervalMs: number
    /** In which time every balancer is verified once, although nothing changed. */
    periodMs: number
  }
  /** What `wcp watch` tells the function of. */
  watch: { resources: WatchedResource[] }
  telemetry: {
    /** Absent: nobody collects traces, and nothing of OpenTelemetry is loaded. */
    traces?: {
      /** OTLP over HTTP; `/v1/traces` is added where the URL has no path. Unless set, `OTEL_EXPORTER_OTLP_ENDPOINT` says. */
      endpoint: string
      /** Which share of new traces is recorded; what callers have begun follows them. */
      sampleRatio: number
    }
  }
  shutdown: { drainMs: number }
  log: { level: LogLevel }
}

export interface ServingFiles {
  certFile: string
  keyFile: string
  /** The authority of client certificates; nobody is asked for one without it. */
  clientCaFile?: string
}

export interface CallerProofs {
  /** Bearer tokens, one a line. */
  tokenFile?: string
  /** Names in client certificates. */
  clientSubjects?: string[]
}

export interface OidcIssuer {
  /** As tokens name it in `iss`. */
  issuer: string
  audience: string
  /** Whose tokens are taken, as they name themselves in `sub`. */
  subjects: string[]
  /** PEM certificates that are trusted when its keys are read. */
  caFile?: string
  /** A bearer token that the issuer asks for, as an API server does. */
  tokenFile?: string
}
