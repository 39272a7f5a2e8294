import type { ApiObject } from '../core/api-object.ts'
import { clusterCrd } from './cluster-crd.ts'
import { multiClusterIngressCrd } from './multi-cluster-ingress-crd.ts'
import { multiClusterServiceCrd } from './multi-cluster-service-crd.ts'
import { serviceExportCrd, serviceImportCrd } from './multi-cluster-services-api-crds.ts'
import { clusterPropagationPolicyCrd, propagationPolicyCrd } from './propagation-policy-crds.ts'
import { remedyCrd } from './remedy-crd.ts'
import { resourceBindingCrd } from './resource-binding-crd.ts'
import { workCrd } from './work-crd.ts'

/** Everything of a Karmada control plane that this project reads or writes. */
export const karmadaCrds: readonly ApiObject[] = [
  multiClusterIngressCrd,
  multiClusterServiceCrd,
  serviceExportCrd,
  serviceImportCrd,
  propagationPolicyCrd,
  clusterPropagationPolicyCrd,
  resourceBindingCrd,
  workCrd,
  remedyCrd,
  clusterCrd,
]
