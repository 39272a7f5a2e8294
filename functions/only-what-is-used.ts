import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import type { Plugin } from 'esbuild'

const { defaultInitOptions } = createRequire(import.meta.url)('fastify/lib/config-validator.js')

const PACKAGES = join(import.meta.dirname, '../node_modules')

/**
 * Packages that bring much more than we use, and cannot be shaken: in their place stands a module of what we do. Whoever
 * uses one thing more is told by esbuild that it is not exported, and adds it here.
 */
const MODULES: Readonly<Record<string, string>> = {
  // Of 2,000 generated modules none: requests are ours.
  '@kubernetes/client-node': `
    export { KubeConfig } from '@kubernetes/client-node/dist/config.js'
    export { HttpMethod, RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js'`,
  // Without fetch, web sockets, caches, interceptors and mocks.
  undici: `
    import Agent from 'undici/lib/dispatcher/agent.js'
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
    import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
    import util from 'undici/lib/core/util.js'
    import sendRequest from 'undici/lib/api/api-request.js'
    import { getGlobalDispatcher } from 'undici/lib/global.js'
    Dispatcher.prototype.request = sendRequest
    export { Agent, Dispatcher, ProxyAgent }
    export function request(url, { dispatcher = getGlobalDispatcher(), ...options } = {}) {
      const { origin, pathname, search } = util.parseURL(url)
      const method = options.method ?? (options.body ? 'PUT' : 'GET')
      return dispatcher.request({ ...options, origin, path: pathname + search, method })
    }`,
  // Without the metrics of Node itself, the push gateway and clusters.
  'prom-client': `
    export { default as Counter } from 'prom-client/lib/counter.js'
    export { default as Gauge } from 'prom-client/lib/gauge.js'
    export { default as Histogram } from 'prom-client/lib/histogram.js'
    export { default as Registry } from 'prom-client/lib/registry.js'`,
  // Of credential plugins that Kubernetes itself has given up.
  'jsonpath-plus': `export const JSONPath = ${failing('auth-provider with a path into its output')}`,
}

// Checks options that are ours; only its defaults are asked for.
const OPTIONS_AS_THEY_ARE = `
  module.exports = (options) => Object.assign(options, module.exports.defaultInitOptions, { ...options })
  module.exports.defaultInitOptions = ${JSON.stringify(defaultInitOptions)}`

// Of each route find-my-way compiles two functions from text, and there is a route for what is not found in each method of
// HTTP. Ours have no parameters and no constraints: what makes the one needs no compiler, and the other is never called.
const UNCOMPILED_HANDLERS = `
  const HandlerStorage = require('find-my-way/lib/handler-storage.js')
  const { NullObject } = require('find-my-way/lib/null-object.js')
  module.exports = class extends HandlerStorage {
    _compileCreateParamsObject(names) {
      return (one, two, three, four, further) => {
        const params = new NullObject()
        if (names.length > 0) {
          const values = [one, two, three, four, ...(further ?? [])]
          names.forEach((name, index) => { params[name] = values[index] })
        }
        return params
      }
    }
    _compileGetHandlerMatchingConstraints(constrainer) {
      this._getHandlerMatchingConstraints = (derived) => {
        super._compileGetHandlerMatchingConstraints(constrainer)
        return this._getHandlerMatchingConstraints(derived)
      }
    }
  }`

// Modules of Node that take a millisecond or more to load, for one function each.
const ASSERT = 'module.exports = (holds, message) => { if (!holds) throw new Error(message) }'
const PERFORMANCE = 'export const performance = { now: () => Number(process.hrtime.bigint()) / 1e6 }'

/** Modules inside of a package, as it asks for them. */
const INNER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@kubernetes/client-node': {
    './gen/index.js': `
      export const createConfiguration = ${failing('the generated clients')}
      export class ServerConfiguration {}`,
    './isomorphic-fetch.js': 'export {}',
    // What it is given is JSON.
    'js-yaml': 'export const load = JSON.parse',
  },
  undici: {
    // An experiment, twice in WebAssembly.
    ...without('../milo/simd.js', '../milo/no-simd.js'),
    // Evaluated for a server that speaks it: HTTP/2 of Node takes several milliseconds to load.
    './client-h2.js': `module.exports = (...connection) => require('undici/lib/dispatcher/client-h2.js')(...connection)`,
    'node:assert': ASSERT,
  },
  // We have no schemas, plugins, trusted proxies or HTTP/2, and `inject` is for tests.
  fastify: {
    ...without(
      '@fastify/ajv-compiler',
      '@fastify/fast-json-stringify-compiler',
      '@fastify/proxy-addr',
      'light-my-request',
      'node:http2',
      'semver',
    ),
    // The options are ours, and of the right types.
    './config-validator': OPTIONS_AS_THEY_ARE,
    'node:assert': ASSERT,
    'node:perf_hooks': PERFORMANCE,
  },
  // For debugging, for compiled routers, and for routes that are regular expressions.
  'find-my-way': {
    ...without('./lib/compiler', './lib/pretty-print'),
    './handler-storage': UNCOMPILED_HANDLERS,
    'safe-regex2': 'module.exports = () => true',
    'node:assert': ASSERT,
  },
  // Requests that we write ourselves, without cookies that somebody reads.
  'light-my-request': {
    './lib/config-validator': 'module.exports = () => true',
    'set-cookie-parser': 'export {}',
    'node:assert': ASSERT,
  },
  // What is logged is written by us, in this thread, and without secrets already.
  pino: {
    ...without('./lib/transport', './transport', 'sonic-boom', '@pinojs/redact'),
    worker_threads: 'exports.isMainThread = true',
  },
}

export const onlyWhatIsUsed: Plugin = {
  name: 'only-what-is-used',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[@\w.]/ }, ({ path, importer, namespace }) => {
      if (namespace === 'used') return undefined
      const contents = innerModule(importer, path) ?? (Object.hasOwn(MODULES, path) ? MODULES[path] : undefined)
      return contents === undefined ? undefined : { path, namespace: 'used', pluginData: contents }
    })
    onLoad({ filter: /.*/, namespace: 'used' }, ({ pluginData }) => ({ contents: pluginData, resolveDir: PACKAGES }))
  },
}

function innerModule(importer: string, path: string): string | undefined {
  const inside = Object.entries(INNER).find(([name]) => importer.startsWith(join(PACKAGES, name) + sep))
  return inside?.[1][path]
}

function without(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `module.exports = ${failing(name)}`]))
}

function failing(what: string): string {
  return `function () { throw new Error(${JSON.stringify(`${what}: not in this bundle`)}) }`
}
