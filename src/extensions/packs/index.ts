import type { Extension } from '../extension.ts'
import { packsOfCountry } from './schemas.ts'

/** Areas in one file each, for use without a network. */
export const packs: Extension = {
  name: 'packs',
  needs: ['downloads', 'places'],
  part: 'operations',
  guide: { path: 'offline', title: 'Offline packs', before: 'gis' },
  releaseLinks: [packsOfCountry],
  routes: async (app, core) => (await import('./routes.ts')).packs(app, core),
  commands: { pack: async () => (await import('./command.ts')).packCommand },
}
