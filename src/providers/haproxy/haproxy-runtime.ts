import { askHaproxy } from './haproxy-socket.ts'
import { GENERATION_VARIABLE } from './render-configuration.ts'
import { decodeServerStates, type RunningServer } from './running-server.ts'

/** The socket of the worker: what runs, and what can be changed without a reload. */
export interface HaproxyRuntime {
  /** Of the configuration that the worker was started with; undefined where that was none of ours. */
  generation(): Promise<string | undefined>
  /** Names of all backends. */
  backends(): Promise<string[]>
  /** Servers of these backends, or of all. A backend that does not run has none. */
  servers(backends?: readonly string[]): Promise<RunningServer[]>
  /** Connections that a server has now, by `backend/server`. */
  connections(): Promise<Map<string, number>>
  /** Answers what HAProxy says; nothing more often than not. */
  tell(command: string): Promise<string>
}

export function createHaproxyRuntime(path: string): HaproxyRuntime {
  const ask = (command: string) => askHaproxy(path, command)
  return {
    tell: async (command) => (await ask(command)).trim(),
    async generation() {
      const answer = await ask(`show env ${GENERATION_VARIABLE}`)
      return new RegExp(`^${GENERATION_VARIABLE}=(\\S+)$`, 'm').exec(answer)?.[1]
    },
    // The first line is a heading.
    backends: async () => (await ask('show backend')).trim().split('\n').slice(1),
    async servers(backends) {
      const commands = backends?.map((name) => `show servers state ${name}`) ?? ['show servers state']
      // Longer lines than this do not fit HAProxy's buffer.
      const answers = await Promise.all(inLines(commands).map(ask))
      return answers.flatMap(decodeServerStates)
    },
    connections: async () => decodeConnections(await ask('show stat -1 4 -1')),
  }
}

const LINE_LENGTH = 8_000

function inLines(commands: readonly string[]): string[] {
  const lines: string[] = []
  for (const command of commands) {
    const last = lines.at(-1)
    if (last === undefined || last.length + command.length > LINE_LENGTH) lines.push(command)
    else lines[lines.length - 1] = `${last};${command}`
  }
  return lines
}

function decodeConnections(csv: string): Map<string, number> {
  const [head = '', ...rows] = csv.split('\n').filter((line) => line !== '')
  const column = head.replace(/^# /, '').split(',').indexOf('scur')
  return new Map(
    rows.map((row) => {
      const [proxy, server, ...cells] = row.split(',')
      return [`${proxy}/${server}`, Number(cells[column - 2])]
    }),
  )
}
