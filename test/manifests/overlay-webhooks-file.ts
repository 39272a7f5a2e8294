import type { Manifest } from '../../src/compose/finish-manifests.ts'
import { printManifests } from '../../src/compose/manifest-file.ts'
import { AS_THEY_ARE, NAME, type OverlayName, overlayWebhooks } from '../../src/compose/overlay.ts'

const HEADER = '# Written by `npm run manifests` from src/compose, which says why each is as it is: change it there.\n'

/** `webhook-configurations.yaml` of an overlay: whom the API server asks, as the code registers it. */
export function overlayWebhooksFile(overlay: OverlayName): string {
  const objects = overlayWebhooks(overlay, AS_THEY_ARE).map(({ metadata, ...configuration }) => ({
    ...configuration,
    metadata: {
      ...metadata,
      // Registered last, and taken away first.
      labels: { 'app.kubernetes.io/component': 'admission' },
      ...(overlay === 'kubernetes-ccm' ? { annotations: { 'cert-manager.io/inject-ca-from': `${NAME}/${NAME}` } } : {}),
    },
  }))
  return printManifests({ header: HEADER, objects: objects as unknown as Manifest[] })
}
