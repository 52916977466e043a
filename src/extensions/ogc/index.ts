import type { Extension } from '../extension.ts'

/** The OGC API with EDR, and the coverage of areas. */
export const ogc: Extension = {
  name: 'ogc',
  part: 'fields',
  links: { ogc: { path: '/ogc', description: 'The OGC API, for GIS.' } },
  routes: async (app, core) => (await import('./routes.ts')).ogc(app, core),
}
