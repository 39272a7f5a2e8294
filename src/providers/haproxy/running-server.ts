/** A server as the worker has it. */
export interface RunningServer {
  backend: string
  id: number
  name: string
  address: string
  port: number
  weight: number
  /** As an operator or we told it: `drain` takes no new connections, `maintenance` none at all. */
  administered: 'ready' | 'drain' | 'maintenance'
}

// Bits of srv_admin_state.
const MAINTENANCE = 0x01 | 0x02 | 0x04 | 0x20
const DRAIN = 0x08 | 0x10

/** Answers of `show servers state`, one after the other. The first line of each is a version, the second names the columns. */
export function decodeServerStates(answer: string): RunningServer[] {
  const servers: RunningServer[] = []
  let columns: string[] = []
  for (const line of answer.split('\n')) {
    const cells = line.split(' ')
    if (line.startsWith('# be_id')) columns = cells.slice(1)
    else if (columns.length > 0 && cells.length === columns.length) servers.push(decodeServer(columns, cells))
  }
  return servers
}

function decodeServer(columns: readonly string[], cells: readonly string[]): RunningServer {
  const cell = (name: string) => cells[columns.indexOf(name)] ?? ''
  const state = Number(cell('srv_admin_state'))
  return {
    backend: cell('be_name'),
    id: Number(cell('srv_id')),
    name: cell('srv_name'),
    address: cell('srv_addr'),
    port: Number(cell('srv_port')),
    weight: Number(cell('srv_uweight')),
    administered: (state & MAINTENANCE) !== 0 ? 'maintenance' : (state & DRAIN) !== 0 ? 'drain' : 'ready',
  }
}
