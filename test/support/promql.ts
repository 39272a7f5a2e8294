import { parser } from '@prometheus-io/lezer-promql'

type Node = ReturnType<typeof parser.parse>['topNode']

/** What a PromQL expression asks for. */
export interface Query {
  /** Places that are no PromQL. */
  faults: string[]
  selectors: { metric: string; matchers: { label: string; operator: string; value: string }[] }[]
  /** Labels that results keep by `by (…)`, of every aggregation. */
  groupedBy: string[]
}

export function readQuery(expression: string): Query {
  const textOf = ({ from, to }: Node) => expression.slice(from, to)
  const query: Query = { faults: [], selectors: [], groupedBy: [] }
  const visit = (node: Node): void => {
    if (node.type.isError) query.faults.push(`at ${node.from}: ${expression.slice(node.from, node.from + 20)}`)
    if (node.name === 'VectorSelector') query.selectors.push(selectorOf(node, textOf))
    if (node.name === 'GroupingLabels') query.groupedBy.push(...node.getChildren('LabelName').map(textOf))
    for (let child = node.firstChild; child !== null; child = child.nextSibling) visit(child)
  }
  visit(parser.parse(expression).topNode)
  return query
}

function selectorOf(node: Node, textOf: (node: Node) => string): Query['selectors'][number] {
  const part = (of: Node, name: string) => {
    const [child] = of.getChildren(name)
    return child === undefined ? '' : textOf(child)
  }
  const matchers = node.getChildren('LabelMatchers').flatMap((list) => list.getChildren('UnquotedLabelMatcher'))
  return {
    metric: part(node, 'Identifier'),
    matchers: matchers.map((matcher) => ({
      label: part(matcher, 'LabelName'),
      operator: part(matcher, 'MatchOp'),
      value: part(matcher, 'StringLiteral').slice(1, -1),
    })),
  }
}
