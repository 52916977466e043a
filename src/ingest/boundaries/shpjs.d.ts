declare module 'shpjs' {
  import type { Geometry } from 'geojson'

  /** The shapes of a .shp file as GeoJSON, null where a record has none; not reprojected. */
  export function parseShp(shp: Uint8Array): (Geometry | null)[]
  /** The records of a .dbf file; `cpg` names the encoding of its texts. */
  export function parseDbf(dbf: Uint8Array, cpg?: Uint8Array): Record<string, unknown>[]
}
