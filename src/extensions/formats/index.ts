import type { Extension } from '../extension.ts'
import { settings } from './settings.ts'

/** Rasters of other formats than GeoTIFF, and at addresses. Its libraries are loaded when such a file is read. */
export const formats: Extension = {
  name: 'formats',
  settings,
  rasters: async () => (await import('./reader.ts')).reader,
}
