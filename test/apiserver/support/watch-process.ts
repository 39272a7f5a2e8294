import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Installation } from './installation.ts'
import { type Killable, startKillable } from './killable.ts'

const WCP = join(import.meta.dirname, '../../../src/cli/main.js')

/** `wcp watch`, which tells the function of the installation. `watch` of the configuration; its default when absent. */
export async function startWatchProcess(
  { directory, caPem, url }: Installation,
  { kubeconfig, watch }: { kubeconfig: string; watch?: object },
): Promise<Killable> {
  const [configFile, caFile] = [join(directory, 'watch.json'), join(directory, 'ca.crt')]
  const config = { provider: { name: 'fake' }, kubernetes: { kubeconfig }, ...(watch === undefined ? {} : { watch }) }
  await writeFile(configFile, JSON.stringify(config))
  await writeFile(caFile, caPem)
  return startKillable(WCP, ['watch', '--config', configFile, '--sink', `${url}/events`, '--ca', caFile])
}
