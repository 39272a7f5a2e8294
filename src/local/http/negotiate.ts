/** How an answer is to look. */
export interface Representation {
  form: 'object' | 'table' | 'metadata'
  encoding: 'json' | 'yaml'
  /** The version of the discovery documents; plain ones when absent. */
  aggregated?: 'v2' | 'v2beta1'
}

/** The first clause of the Accept header that can be served; `undefined` is a 406. */
export function negotiate(accept: string | undefined): Representation | undefined {
  const clauses = (accept ?? '*/*').split(',').map(parseClause)
  for (const { type, parameters } of clauses) {
    const encoding = encodingOf(type)
    if (encoding === undefined) continue
    const as = parameters.get('as')
    if (as === undefined) return { form: 'object', encoding }
    const version = parameters.get('v')
    if (as === 'Table' && version === 'v1') return { form: 'table', encoding }
    if ((as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') && version === 'v1') {
      return { form: 'metadata', encoding }
    }
    if (as === 'APIGroupDiscoveryList' && (version === 'v2' || version === 'v2beta1')) {
      return { form: 'object', encoding, aggregated: version }
    }
  }
  return undefined
}

function parseClause(clause: string): { type: string; parameters: Map<string, string> } {
  const [type = '', ...rest] = clause.split(';').map((part) => part.trim())
  const pairs = rest.map((part): [string, string] => {
    const [name = '', value = ''] = part.split('=')
    return [name.trim().toLowerCase(), value.trim()]
  })
  return { type: type.toLowerCase(), parameters: new Map(pairs) }
}

function encodingOf(type: string): 'json' | 'yaml' | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*' || type === '') return 'json'
  return type === 'application/yaml' ? 'yaml' : undefined
}
