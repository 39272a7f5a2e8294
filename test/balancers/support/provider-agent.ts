import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CertificateAuthority } from '../../../src/adapters/certificates/certificate-authority.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { type Child, startChild } from './child.ts'
import { WCP } from './function-process.ts'
import type { Networks } from './networks.ts'

/** `wcp provider haproxy` beside HAProxy, with TLS and a token: as it is deployed. */
export interface ProviderAgent {
  /** What the function is configured with to reach it. */
  provider: { name: 'http'; options: object }
  start(): Promise<void>
  kill(): Promise<void>
  output(): string
}

const PORT = 9443

export async function installAgent(
  networks: Networks,
  authority: CertificateAuthority,
  parent: string,
  options: object,
): Promise<ProviderAgent> {
  const directory = join(parent, 'agent')
  const file = (name: string) => join(directory, name)
  await mkdir(directory)
  const { certPem, keyPem } = await authority.issueServingCertificate([networks.machine])
  const files = {
    'tls.crt': certPem,
    'tls.key': keyPem,
    'ca.crt': authority.caPem,
    token: randomBytes(32).toString('hex'),
    'options.json': JSON.stringify(options),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(file(name), text, { mode: 0o600 })
  const runs: Child[] = []
  const command = [
    ...networks.inside('front'),
    ...[process.execPath, WCP, 'provider', 'haproxy'],
    ...['--config', file('options.json'), '--listen', `${networks.machine}:${PORT}`],
    ...['--tls-cert', file('tls.crt'), '--tls-key', file('tls.key'), '--token-file', file('token')],
  ]
  return {
    provider: {
      name: 'http',
      options: {
        url: `https://${networks.machine}:${PORT}`,
        serves: { MultiClusterIngress: { list: true }, MultiClusterService: { list: true } },
        caFile: file('ca.crt'),
        tokenFile: file('token'),
      },
    },
    async start() {
      const child = startChild(command, { cwd: directory })
      runs.push(child)
      await eventually(() => {
        if (!/ listens at /.test(child.output())) throw new Error(`the agent does not listen:\n${child.output()}`)
      }, 20_000)
    },
    async kill() {
      await Promise.all(runs.map((child) => child.end('SIGKILL')))
    },
    output: () => runs.map((child) => child.output()).join(''),
  }
}
