import { type Static, Type } from 'typebox'
import type { Extension } from '../extension.ts'
import type { Downloads } from './downloads.ts'

const Operated = Type.Object({
  DOWNLOAD_CACHE_MB: Type.Integer({ minimum: 0, maximum: 1_048_576, default: 256 }),
})

const ERRORS = {
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    meaning: 'The file ends before the bytes that `Range` names.',
    example: 'The file has 30512 bytes, and none of those that Range names.',
  },
} as const

type DownloadSettings = Static<typeof Operated>
type OwnErrors = typeof ERRORS

declare module '#src/config.ts' {
  interface Config extends DownloadSettings {}
}
declare module '#src/errors.ts' {
  interface Errors extends OwnErrors {}
}
declare module 'fastify' {
  interface FastifyInstance {
    /** Null without DOWNLOAD_CACHE_MB. */
    downloads: Downloads | null
  }
}

/** Files that are made at the first request, within DOWNLOAD_CACHE_MB: layers as GeoTIFF, and those of other extensions. */
export const downloads: Extension = {
  name: 'downloads',
  settings: { operated: Operated.properties },
  errors: ERRORS,
  async decorate(app) {
    const { createDownloads } = await import('./downloads.ts')
    app.decorate('downloads', app.config.DOWNLOAD_CACHE_MB > 0 ? createDownloads(app) : null)
  },
  routes: async (app, { maps }) => (await import('./geotiff.ts')).geotiffRoute(app, maps),
}
