import type { Kysely } from 'kysely'
import { type CrsText, isCrs, MAX_CRS_CHARACTERS, projOf, sridOfCode, sridOfText } from '#src/database/crs.ts'
import type { Tables } from '#src/database/tables.ts'
import { OperatorError } from '#src/errors.ts'
import type { ManifestLayer } from '../manifest-file.ts'
import { crsOfText, type FileCrs } from './crs-text.ts'
import type { RasterFile } from './file.ts'

/**
 * PostGIS's id of the CRS of a layer: what the manifest says comes before what the file says.
 *
 * @throws {OperatorError} where neither says it, or PROJ knows no such CRS
 */
export async function sridOf(
  db: Kysely<Tables>,
  file: RasterFile,
  entry: ManifestLayer,
  notes: Set<string>,
): Promise<number> {
  const crs = crsOfEntry(entry) ?? file.crs
  if (crs === file.crs) for (const note of file.notes) notes.add(note)
  if (
    crs !== file.crs &&
    file.crs.kind === 'epsg' &&
    entry.srid !== undefined &&
    file.crs.code !== entry.srid
  ) {
    notes.add(`${file.path} says EPSG:${file.crs.code}, but the manifest's srid ${entry.srid} is used.`)
  }
  if (crs.kind === 'unknown') {
    throw new OperatorError(`${file.path} has an unknown CRS: ${crs.reason}; give the layer's srid or srs.`)
  }
  if (crs.kind === 'rotated-pole') {
    throw new OperatorError(
      `${file.path} has a CRS with a rotated pole, whose degrees are none of longitude and latitude: warp it with gdalwarp -t_srs EPSG:4326.`,
    )
  }
  if (crs.kind === 'unnamed-wgs84') {
    notes.add(`${file.path} names no CRS, but its parameters are those of WGS 84: it is read as EPSG:4326.`)
    return 4326
  }
  if (crs.kind === 'text') return sridOfChecked(db, crs, file.path)
  const srid = await sridOfCode(db, crs.kind === 'epsg' ? crs.code : crs.of)
  if (srid === undefined) {
    const code = crs.kind === 'epsg' ? crs.code : crs.of
    throw new OperatorError(`${file.path} has an unknown CRS: PostGIS does not know EPSG:${code}.`)
  }
  if (crs.kind === 'epsg') return srid
  const earth = ((await projOf(db, srid)) ?? '').replace(/\+proj=longlat|\+no_defs/g, '').trim()
  return sridOfChecked(db, { wkt: '', proj: `${crs.proj} ${earth} +no_defs` }, file.path)
}

function crsOfEntry({ srid, srs }: ManifestLayer): FileCrs | undefined {
  if (srid !== undefined) return { kind: 'epsg', code: srid }
  if (srs === undefined) return undefined
  return (
    crsOfText(srs) ?? {
      kind: 'unknown',
      reason: 'the srs of the manifest is neither a code nor PROJ nor WKT',
    }
  )
}

async function sridOfChecked(db: Kysely<Tables>, { wkt, proj }: CrsText, path: string): Promise<number> {
  const length = Math.max(wkt.length, proj.length)
  if (length > MAX_CRS_CHARACTERS) {
    throw new OperatorError(
      `${path} has a CRS of ${length} characters, and PostGIS keeps at most ${MAX_CRS_CHARACTERS}; give the layer's srs as a code or a PROJ string.`,
    )
  }
  if (!(await isCrs(db, { wkt, proj }))) {
    throw new OperatorError(`${path} has an unknown CRS: PROJ makes nothing of "${wkt || proj}".`)
  }
  return sridOfText(db, { wkt, proj }, path)
}
