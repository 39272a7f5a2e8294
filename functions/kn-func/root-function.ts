import type { FunctionHandler } from '../../src/compose/function-handler.ts'

/** As faas-js-runtime hands a request over; `rawBody` with FUNC_INCLUDE_RAW, which each func.yaml here sets. */
export interface FuncContext {
  method: string
  headers: Record<string, string | string[] | undefined>
  query: Record<string, string | string[]>
  rawBody?: string
}

/** What its loader looks for in a module. */
export interface RootFunction {
  handle(context: FuncContext): Promise<{ statusCode: number; headers: object; body: string }>
  shutdown(): Promise<void>
}

/** The runtime calls a function for `/` only, which is one of our doors. */
export function rootFunction(door: string, started: Promise<FunctionHandler>): RootFunction {
  return {
    async handle({ method, headers, query, rawBody = '' }) {
      const parameters = Object.entries(query).flatMap(([name, value]) =>
        [value].flat().map((each): [string, string] => [name, each]),
      )
      const search = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`
      const { answer } = await started
      const url = `${door}${search}`
      const { status, ...rest } = await answer({ method, url, headers, body: Buffer.from(rawBody) })
      return { statusCode: status, headers: rest.headers, body: rest.body.toString() }
    },
    shutdown: async () => (await started).close(),
  }
}
