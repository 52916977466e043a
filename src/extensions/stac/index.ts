import type { Extension } from '../extension.ts'

/** The published data for programs that read the SpatioTemporal Asset Catalog. */
export const stac: Extension = {
  name: 'stac',
  needs: ['downloads'],
  part: 'operations',
  links: { stac: { path: '/stac', description: 'The same in STAC.' } },
  routes: async (app, core) => (await import('./routes.ts')).stac(app, core),
}
