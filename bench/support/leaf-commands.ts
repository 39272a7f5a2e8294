import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { ProcessCommand } from './measured-process.ts'

export interface LeafSettings {
  kubeconfig: string
  /** Over the usual configuration. */
  config?: object
  /** The folder of a node leaf; the one that is shipped unless given. */
  bundle?: string
}

/** The function as a Node process that serves TLS itself. */
export async function nodeLeaf(
  bench: Bench,
  port: number,
  { kubeconfig, config, bundle }: LeafSettings,
): Promise<ProcessCommand> {
  const { certFile, keyFile } = bench.tls
  const server = { host: '127.0.0.1', port, tls: { certFile, keyFile } }
  return {
    args: ['index.cjs'],
    folder: bundle ?? join(await bench.bundles(), 'node'),
    env: configured({ server, ...config }, kubeconfig),
  }
}

/** The function behind an ingress that ends TLS. */
export async function knativeLeaf(
  bench: Bench,
  port: number,
  { kubeconfig, config }: LeafSettings,
): Promise<ProcessCommand> {
  return {
    args: ['index.cjs'],
    folder: join(await bench.bundles(), 'knative'),
    env: {
      ...configured({ server: { host: '127.0.0.1' }, ...config }, kubeconfig),
      PORT: String(port),
      K_SERVICE: 'function',
    },
  }
}

/** The handler of a leaf in the least that calls it over TLS. */
export async function hostedLeaf(
  bench: Bench,
  port: number,
  {
    platform,
    leaf,
    kubeconfig,
    config,
  }: LeafSettings & { platform: 'kn-func' | 'google' | 'aws-lambda'; leaf: string },
): Promise<ProcessCommand> {
  const { certFile, keyFile } = bench.tls
  return {
    args: [join(await bench.floors(), 'leaf-host.cjs')],
    env: {
      ...configured({ ...config }, kubeconfig),
      PORT: String(port),
      CERT_FILE: certFile,
      KEY_FILE: keyFile,
      PLATFORM: platform,
      LEAF: join(await bench.bundles(), leaf, 'index.cjs'),
    },
  }
}

/** What answers reviews with the least. */
export async function floorServer(
  bench: Bench,
  port: number,
  {
    name,
    scheme = 'https',
    finalizer,
  }: {
    name: 'bare-https' | 'https-with-ajv'
    scheme?: 'http' | 'https'
    /** To be added to every object, by `bare-https`. */
    finalizer?: string
  },
): Promise<ProcessCommand> {
  const { certFile, keyFile } = bench.tls
  const tls = scheme === 'http' ? {} : { CERT_FILE: certFile, KEY_FILE: keyFile }
  const work = finalizer === undefined ? {} : { FINALIZER: finalizer }
  return { args: [join(await bench.floors(), `${name}.cjs`)], env: { PORT: String(port), ...tls, ...work } }
}

function configured(settings: object, kubeconfig: string): Record<string, string> {
  const config = {
    provider: { name: 'fake' },
    identity: 'system:serviceaccount:webhook-cloud-provider:webhook-cloud-provider',
    ingressClass: { names: ['multicloud'], default: true },
    queue: { kind: 'memory' },
    callers: { anyone: true },
    log: { level: 'warn' },
    ...settings,
  }
  return { WCP_CONFIG_YAML: JSON.stringify(config), WCP_KUBECONFIG_YAML: kubeconfig }
}
