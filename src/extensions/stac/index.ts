import type { Extension } from '../extension.ts'

/** The published data for programs that read the SpatioTemporal Asset Catalog. */
export const stac: Extension = {
  name: 'stac',
  part: 'operations',
  links: { stac: { path: '/stac', description: 'The same in STAC.' } },
  async routes(app, core) {
    const { stac } = await import('./routes.ts')
    await app.register(stac, core)
  },
}
