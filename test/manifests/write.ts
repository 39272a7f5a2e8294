// npm run manifests: writes what is made from code and from kustomize, after a change of either. Needs a kubectl: KUBECTL,
// or the one on the PATH.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { printManifests } from '../../src/compose/manifest-file.ts'
import { OVERLAYS, type Overlay, type OverlayName } from '../../src/compose/overlay.ts'
import { findKubectl } from '../support/find-kubectl.ts'
import { overlayWebhooksFile } from './overlay-webhooks-file.ts'
import { MANIFESTS, renderKustomization } from './render-overlay.ts'

const kubectl = findKubectl()
if (kubectl === undefined)
  throw new Error('no kubectl: set KUBECTL, for example to $(node test/apiserver/kubectl-path.ts)')

for (const [name, { targets }] of Object.entries(OVERLAYS) as [OverlayName, Overlay][]) {
  const asked = targets.karmada ?? targets.host
  if (asked !== undefined)
    await write(join('overlays', asked.folder, 'webhook-configurations.yaml'), overlayWebhooksFile(name))
  for (const { folder, rendered } of Object.values(targets)) {
    const { header, objects } = await renderKustomization(kubectl, join(MANIFESTS, 'overlays', folder))
    await write(rendered, printManifests({ header: `${header}${writtenFrom(folder)}`, objects }))
  }
}

function writtenFrom(folder: string): string {
  return `#\n# Written by \`npm run manifests\` from overlays/${folder}, where the comments are: change it there.\n`
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(join(MANIFESTS, file), text)
  process.stdout.write(`manifests/${file}\n`)
}
