import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { Section } from '../options.ts'
import type { Results } from '../results.ts'
import { measureEmbedded } from './embedded.ts'
import { measureEmbeddedStart } from './start-up.ts'

/** The sections of the embedded database, one after the other in one folder. */
export async function measureOnEmbedded(bench: Bench, only: Section[], results: Results): Promise<void> {
  const folder = join(bench.folder, 'embedded')
  if (only.includes('startup')) {
    const starts = await measureEmbeddedStart(bench, folder)
    results.startUp = { server: null, ...results.startUp, ...starts }
  }
  if (only.includes('embedded')) results.embedded = await measureEmbedded(bench, folder)
}
