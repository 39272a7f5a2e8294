import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleLeaf } from '../../functions/bundle-leaf.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The node leaf with the cloud on disk, bundled as the others are; without the code that V8 compiles. */
export async function buildDiskLeaf(folder: string): Promise<void> {
  await bundleLeaf(join(ROOT, 'bench/leaves/cloud-on-disk.ts'), folder)
  copyFileSync(join(ROOT, 'functions/load-bundle.cjs'), join(folder, 'index.cjs'))
}
