import { parseMultiClusterOptions } from '../balancer-annotations/parse-multi-cluster-options.ts'
import type { Finding } from '../finding.ts'
import type { MultiClusterIngress } from '../multi-cluster-ingress.ts'
import { invalid } from '../validation/field-errors.ts'
import { isRequestPath } from './is-request-path.ts'

/** What is wrong with an ingress for any proxy, beside what the API server's rules say: annotations, and its paths. */
export function validateRoutes(ingress: MultiClusterIngress): Finding[] {
  const { findings } = parseMultiClusterOptions(ingress, 'MultiClusterIngress')
  return [...findings, ...pathFindings(ingress)]
}

function pathFindings({ spec }: MultiClusterIngress): Finding[] {
  return (spec?.rules ?? []).flatMap(({ http }, rule) =>
    (http?.paths ?? []).flatMap(({ path }, index) =>
      isRequestPath(path || '/')
        ? []
        : [
            invalid(
              `spec.rules[${rule}].http.paths[${index}].path`,
              path ?? '',
              'must be a path as it stands in a request, with %XX for other characters (no regular expression)',
            ),
          ],
    ),
  )
}
