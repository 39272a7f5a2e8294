/** What `wcp COMMAND --help` prints. */
export const HELP = {
  serve: `usage: wcp serve --config FILE [--port N]

Runs the function until SIGTERM or SIGINT, then finishes what it has taken on.

  --config FILE      the configuration file (or WCP_CONFIG; WCP_CONFIG_YAML holds the text itself)
  --port N           in place of server.port (or PORT)

KUBECONFIG counts as kubernetes.kubeconfig, K_SINK as queue.sink.

exit code: 0 stopped · 1 failed, or the port is not to be had · 2 wrong usage or configuration`,

  local: `usage: wcp local [--demo] [--port N] [--directory DIR] [--delay-ms N] [--verbose]

A Kubernetes API, the function and a fake cloud in this process: nothing to install. A sample is applied and served; then
kubectl works against it until SIGINT.

  --demo             tell each step, and stop
  --port N           of the API; any free one unless given
  --directory DIR    for kubeconfig and certificates, kept afterwards; a temporary one unless given
  --delay-ms N       how long the cloud takes for each call
  --verbose          the function's log too

exit code: 0 stopped · 1 failed · 2 wrong usage`,

  replay: `usage: wcp replay FIXTURE… [--url URL] [--ca FILE] [--token-file FILE]

Sends recorded requests, and shows each answer and what followed. Without --url to a function in this process.

  --url URL          of a running function, with its path prefix
  --ca FILE          authority of its certificate; the system's unless given
  --token-file FILE  bearer token of the door; of several lines the first

exit code: 0 answered as expected · 1 otherwise · 2 wrong usage`,

  sweep: `usage: wcp sweep --url URL [--scope SCOPE] [--ca FILE] [--token-file FILE]

Calls the sweep door of a running function until the sweep is through; one report a line. For cron.

  --url URL          of the function, with its path prefix
  --scope SCOPE      all (default), pending, services, nodes, pending-nodes or routes
  --ca FILE          authority of its certificate; the system's unless given
  --token-file FILE  bearer token of the sweep door; of several lines the first

exit code: 0 done · 1 an object failed, or the function cannot be reached · 2 wrong usage`,

  drain: `usage: wcp drain --config FILE [--keep-balancers] [--dry-run]

Lets go of every object that the function holds, so that nothing of it is left when it is uninstalled: balancers, statuses,
finalizers, and, on Karmada, ServiceExports and their policies that nobody else needs; then its Leases. Unregister the
webhooks and stop the function first. May be interrupted and run again.

  --config FILE      the function's configuration file (or WCP_CONFIG)
  --keep-balancers   leave balancers where they are: objects are handed to the Go manager; Services need nothing for that
  --dry-run          say what would be let go of, and change nothing

exit code: 0 nothing is held any more · 1 something is, or is in the way · 2 wrong usage or configuration`,

  certs: `usage: wcp certs --host HOST… (--directory DIR | --secret NAMESPACE/NAME) [options]

Makes an authority and a serving certificate for the function, renews both before they expire, and keeps the caBundle of
our webhook configurations. Safe to run as often as you like: it writes only what is due. Run it daily.

what for
  --host HOST               DNS name or IP address in the URL by which API servers call the function; repeat for more

where they are kept
  --directory DIR           files ca.crt, ca.key, tls.crt, tls.key, issued.crt; keys for their owner alone (0600)
  --secret NAMESPACE/NAME   a Secret of type kubernetes.io/tls with the same keys
  --secret-kubeconfig FILE  of the cluster that has the Secret; the ServiceAccount of this pod unless given
  --secret-context NAME     a context of that file

who is to trust them
  --kubeconfig FILE         of the API server that calls the function: caBundle of our webhooks is kept there
  --context NAME            a context of that file
  --in-cluster              the same with the ServiceAccount of this pod
  --configuration NAME      webhook configuration to keep; repeat for more (default: webhook-cloud-provider)

how long
  --days N                  life of a serving certificate (default: 365); renewed when two thirds are over
  --authority-days N        life of an authority (default: 3650); likewise
  --settle SECONDS          how long a new authority is in the bundle before a certificate of it is served (default: 3600)

out of turn
  --renew                   a new serving certificate now
  --renew-authority         a new authority now; a certificate of it in a later run, the old one stays in the bundle
  --retire-authorities      take old authorities out of the bundle although certificates of theirs may still be served

only look
  --dry-run                 say what would be done, and change nothing
  --check                   the same, with exit code 1 when something is due

exit code: 0 done, or nothing due · 1 failed, or due with --check · 2 wrong usage, or files that cannot be used`,

  manifests: `usage: wcp manifests --overlay NAME [--target host|karmada] [options]

Prints what is to be applied, filled in for one installation: pipe it into kubectl apply -f -.

  --overlay NAME     karmada-knative, karmada-deployment, kubernetes-ccm or local
  --target host      what goes to the cluster where the pods run
  --target karmada   what goes to the Karmada API server; not for overlays of one API server
  --url URL          by which the API server calls the function; its path is the secret prefix
  --ca FILE          PEM of the authority of its certificate: caBundle; cert-manager is left out
  --class NAME       IngressClass that is ours, the first is the default; repeat for more. Of Services with kubernetes-ccm
  --provider NAME    in place of the example
  --image IMAGE      in place of this version's
  --namespace NAME   where it runs (default: webhook-cloud-provider)

exit code: 0 printed · 2 wrong usage`,

  doctor: `usage: wcp doctor --config FILE [--kubeconfig FILE] [options]

Examines an installation, with a dry run through the API server, and says what is green, yellow or red, and the remedy.

  --config FILE      the function's own configuration file (or WCP_CONFIG)
  --kubeconfig FILE  of whoever asks; the function's own credentials unless given
  --url URL          the function as it is reached from here, with its path prefix; where the webhooks say unless given
  --ca FILE          authority for that; the webhooks' caBundle unless given
  --token-file FILE  bearer token for the doors whose own token file is not here; of several lines the first
  --token-file DOOR=FILE  of one door: admission, events, sweep or metrics; repeat for more
  --namespace NAME   for the object of the dry run (default: default)
  -o, --output text|json  for people, or for programs
  --strict           yellow fails too

exit code: 0 it works · 1 something is red, or with --strict yellow · 2 wrong usage or configuration`,

  init: `usage: wcp init provider NAME [--directory DIR] [--kind multicluster|cloud]

Writes a package with a provider of your own, which keeps its contract on a cloud that stands in.

  --directory DIR    an empty one, or one that is not there yet (default: NAME-cloud-provider)
  --kind KIND        multicluster (default), for Karmada; cloud, for one Kubernetes cluster

exit code: 0 written · 2 wrong usage`,

  provider: `usage: wcp provider NAME --tls-cert FILE --tls-key FILE --token-file FILE [options]

Serves one provider over HTTP until SIGTERM or SIGINT, for a function elsewhere whose provider is "http". Then it finishes
the calls under way.

  --config FILE        the provider's options, in YAML: what stands under provider.options in a function's configuration
  --listen HOST:PORT   where to listen (default: :9443, on every address)
  --tls-cert FILE      certificate chain in PEM; read again when it is replaced
  --tls-key FILE       its private key
  --token-file FILE    tokens that callers may show, one a line; read again when it changes
  --insecure           without TLS and token; on a loopback address only
  --request-bytes N    largest request (default: 16777216)
  --answer-bytes N     largest answer (default: 4194304)
  --drain-seconds N    for the calls under way when it stops (default: 25)
  --log-level LEVEL    debug, info (default), warn, error or silent; the log goes to standard error

exit code: 0 stopped · 1 failed, or the port is not to be had · 2 wrong usage or configuration`,

  conformance: `usage: wcp conformance URL [--token-file FILE] [--ca FILE] [--level N] [--patience SECONDS] [--node FILE] [--json]

Examines a provider that is served over HTTP by its contract: makes balancers of its own in the account, and deletes them.

  --token-file FILE    bearer token of the provider; of several lines the first
  --ca FILE            authority of its certificate; the system's unless given
  --level N            1, or 2 (default): overlaps, lost answers, and others in the account, too
  --patience SECONDS   how long the cloud may go on saying RetryAfter (default: 10)
  --node FILE          a Node (kubectl get node NAME -o yaml) whose machine runs, for instances and routes
  --json               the report for programs

exit code: 0 it passed · 1 it did not, or cannot be reached · 2 wrong usage`,

  watch: `usage: wcp watch --config FILE [--sink URL] [--ca FILE] [--token-file FILE] [--sweep-every SECONDS] [--scope SCOPE]

Tells a running function, by CloudEvents, of what no review tells: Clusters, and Secrets by their metadata.

  --config FILE      the function's configuration file (or WCP_CONFIG)
  --sink URL         /events of the function, or a broker (or K_SINK)
  --ca FILE          authority of its certificate (or K_CA_CERTS)
  --token-file FILE  bearer token that it asks for; of several lines the first
  --sweep-every SECONDS  ask for a sweep, too
  --scope SCOPE      of those sweeps (default: all)

exit code: 0 stopped · 1 events were left that nobody took · 2 wrong usage or configuration`,
} as const
