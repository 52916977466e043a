import type { Extension } from '../extension.ts'
import type { AreaNames } from './gazetteer.ts'

declare module 'fastify' {
  interface FastifyInstance {
    areaNames: AreaNames
  }
}

/** Places by their names: answers for them, and a search of areas. */
export const places: Extension = {
  name: 'places',
  async decorate(app) {
    const { createAreaNames } = await import('./gazetteer.ts')
    app.decorate('areaNames', createAreaNames(app.database.reader))
  },
  routes: async (app, core) => (await import('./routes.ts')).places(app, core),
}
