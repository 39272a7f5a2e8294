import { serverDefinition } from './render-configuration.ts'
import type { RenderedBackend } from './rendered-configuration.ts'
import type { RunningServer } from './running-server.ts'

/** Brings the servers of a backend to what is rendered, without a reload. Pure; nothing when they are there. */
export function serverCommands(backend: RenderedBackend, running: readonly RunningServer[]): string[] {
  const byName = new Map(running.map((server) => [server.name, server]))
  const wanted = new Set(backend.servers.map(({ name }) => name))
  return [
    // New ones first, so that a backend is at no moment without.
    ...backend.servers.flatMap((server) => {
      const path = `${backend.name}/${server.name}`
      const found = byName.get(server.name)
      if (found === undefined) {
        return [
          `add server ${path} ${serverDefinition(backend.serverArguments, server)}`,
          ...startCommands(backend, path),
          ...(backend.namesServersInCookie ? [`enable dynamic-cookie backend ${backend.name}`] : []),
          `enable server ${path}`,
        ]
      }
      return [
        // It was on its way out and is wanted again.
        ...(found.administered === 'ready' ? [] : [...startCommands(backend, path), `set server ${path} state ready`]),
        ...(found.weight === server.weight ? [] : [`set server ${path} weight ${server.weight}`]),
        ...(server.weight === 0 && found.weight !== 0 ? forgetCommands(backend, found) : []),
      ]
    }),
    ...running
      .filter(({ name, administered }) => !wanted.has(name) && administered === 'ready')
      .flatMap((server) => [
        `set server ${backend.name}/${server.name} state ${backend.namesServersInCookie ? 'maint' : 'drain'}`,
        ...forgetCommands(backend, server),
      ]),
  ]
}

/** Takes away servers that nobody wants and that have no connection left. */
export function removalCommands(
  backend: RenderedBackend,
  running: readonly RunningServer[],
  connections: ReadonlyMap<string, number>,
): string[] {
  return leavingServers(backend, running)
    .map(({ name }) => `${backend.name}/${name}`)
    .filter((path) => connections.get(path) === 0)
    .flatMap((path) => [`set server ${path} state maint`, `del server ${path}`])
}

/** Servers that take nothing new and finish what they have, in state drain or maintenance. */
export function leavingServers({ servers }: RenderedBackend, running: readonly RunningServer[]): RunningServer[] {
  const wanted = new Set(servers.map(({ name }) => name))
  return running.filter(({ name, administered }) => !wanted.has(name) && administered !== 'ready')
}

/** Whether new connections go where they are to go, in the asked proportion. What leaves may still be there. */
export function isAsRendered(backend: RenderedBackend, running: readonly RunningServer[]): boolean {
  return serverCommands(backend, running).length === 0
}

function startCommands({ serverArguments }: RenderedBackend, path: string): string[] {
  return serverArguments.includes('check') ? [`enable health ${path}`] : []
}

/** Whom a table sends to a server would go on being sent there. */
function forgetCommands({ name, remembersClients }: RenderedBackend, { id }: RunningServer): string[] {
  return remembersClients ? [`clear table ${name} data.server_id eq ${id}`] : []
}
