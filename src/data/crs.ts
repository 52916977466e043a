import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { OperatorError } from '#src/errors.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import type { Db } from './tables.ts'

/** The WKT counts before the PROJ string. */
export interface CrsText {
  wkt: string
  /** Beside a WKT in degrees it says just that. */
  proj: string
}

interface AddedCrs extends CrsText {
  srid: number
}

/** PostGIS leaves these ids to its users. */
export const ADDED_SRIDS = { first: 910_000, last: 997_999 }

/** Of the columns of spatial_ref_sys. */
export const MAX_CRS_CHARACTERS = 2048

const INSUFFICIENT_PRIVILEGE = '42501'

/** PostGIS's id of a code of EPSG, or else of ESRI. */
export async function sridOfCode(db: Db, code: number): Promise<number | undefined> {
  const { rows } = await sql<{ srid: number }>`
    select srid from spatial_ref_sys
    where upper(auth_name) in ('EPSG', 'ESRI') and auth_srid = ${code}
    order by upper(auth_name)
    limit 1`.execute(db)
  return rows[0]?.srid
}

/** For people: a code, or else a name or a PROJ string. */
export async function nameOfCrs(db: Db, srid: number): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select
      case
        when upper(auth_name) in ('EPSG', 'ESRI') then upper(auth_name) || ':' || auth_srid
        else coalesce(substring(srtext from '"[^"]+"'), nullif(proj4text, ''))
      end as name
    from spatial_ref_sys
    where srid = ${srid}`.execute(db)
  return rows[0]?.name ?? `the CRS ${srid}`
}

/** Whether PROJ understands the text of a CRS. */
export async function isCrs(db: Db, { wkt, proj }: CrsText): Promise<boolean> {
  const transformed = sql`
    select st_transform(st_makepoint(0, 0), '+proj=longlat +datum=WGS84', ${wkt || proj}::text)`.execute(db)
  return transformed.then(
    () => true,
    // Longitude 0 on the equator may be too far away for it; then at least it was understood.
    (error: Error) => error.message.startsWith('transform: '),
  )
}

/** Finds or adds a CRS without a code. The same text has the same id in each database, but for collisions. */
export async function sridOfText(db: Db, { wkt, proj }: CrsText, name: string): Promise<number> {
  const digest = createHash('sha256').update(`${wkt}\n${proj}`).digest()
  const count = ADDED_SRIDS.last - ADDED_SRIDS.first + 1
  for (let at = digest.readUInt32BE() % count; ; at = (at + 1) % count) {
    const found = await find(db, { wkt, proj })
    if (found !== undefined) return found
    await add(db, { srid: ADDED_SRIDS.first + at, wkt, proj }, name)
  }
}

async function find(db: Db, { wkt, proj }: CrsText): Promise<number | undefined> {
  const { rows } = await sql<{ srid: number }>`
    select srid from spatial_ref_sys
    where coalesce(srtext, '') = ${wkt} and coalesce(proj4text, '') = ${proj}
    order by srid
    limit 1`.execute(db)
  return rows[0]?.srid
}

async function add(db: Db, { srid, wkt, proj }: AddedCrs, name: string): Promise<void> {
  const { rows } = await sql<{ role: string }>`select quote_ident(current_user) as role`.execute(db)
  const insert = sql`
    insert into spatial_ref_sys (srid, srtext, proj4text) values (${srid}::integer, ${wkt}, ${proj})
    on conflict (srid) do nothing`
  await insert.execute(db).catch((error) => {
    if (readErrorCode(error) !== INSUFFICIENT_PRIVILEGE) throw error
    const role = rows[0]?.role
    const quoted = [wkt, proj].map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')
    throw new OperatorError(
      `${name} has a CRS that PostGIS does not know, and the role ${role} may not add it. The owner of spatial_ref_sys allows it by: grant insert on spatial_ref_sys to ${role}; or adds it by: insert into spatial_ref_sys (srid, srtext, proj4text) values (${srid}, ${quoted});`,
    )
  })
}

/** CRSs of rasters beyond those of PostGIS, which a copy of the data needs. */
export async function listAddedCrs(db: Db): Promise<AddedCrs[]> {
  const { rows } = await sql<AddedCrs>`
    select srid, coalesce(srtext, '') as wkt, coalesce(proj4text, '') as proj
    from spatial_ref_sys
    where srid in (select srid from coverage) and upper(coalesce(auth_name, '')) not in ('EPSG', 'ESRI')
    order by srid`.execute(db)
  return rows
}

/** Adds the CRSs of another database under their ids. */
export async function addCrs(db: Db, added: AddedCrs[]): Promise<void> {
  for (const crs of added) {
    const here = await readCrsText(db, crs.srid)
    if (!here) await add(db, crs, 'The file')
    else if (here.wkt !== crs.wkt || here.proj !== crs.proj) {
      throw new OperatorError(`spatial_ref_sys has another CRS under the id ${crs.srid} than the file.`)
    }
  }
}

/** Undefined for an id that PostGIS does not have. */
export async function readCrsText(db: Db, srid: number): Promise<CrsText | undefined> {
  const { rows } = await sql<CrsText>`
    select coalesce(srtext, '') as wkt, coalesce(proj4text, '') as proj
    from spatial_ref_sys where srid = ${srid}`.execute(db)
  return rows[0]
}
