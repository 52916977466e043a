import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ReleaseMember } from '#src/catalog/published-queries.ts'
import { ADDED_SRIDS } from '#src/data/crs.ts'
import type { Tables } from '#src/data/tables.ts'
import type { WatchedRelease } from '#src/ingest/observers.ts'
import { batchRows } from '#src/ingest/queries.ts'
import type { GridSize } from '#src/raster/grid.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import { CHUNK_TILES, combineHashes, computeRoot, type HashChunk, hashHeader, RUN } from './merkle.ts'
import { MERKLE_HEADER, MERKLE_ROOT } from './schemas.ts'

/** What a root commits to beside the values. A change of the form gets another name. */
const FORMAT = 'agro merkle 1'

/** SQL for the header of `release`. The number of a CRS without a code is that of one database: such a grid has its text. */
const HEADER = sql<object>`json_build_object(
  'format', ${FORMAT}::text,
  'release', code,
  'product', product,
  'country_code', country_code,
  'crop', crop_code,
  'forecast_month', to_char(forecast_period, 'YYYY-MM'),
  'synthetic', synthetic,
  'source', source,
  'licence', licence,
  'checksum', checksum,
  'tile', ${sql.lit(TILE_SIZE)}::integer,
  'run', ${sql.lit(RUN)}::integer,
  'grids', (
    select json_agg(
      json_build_object(
        'srid', srid, 'crs', (
          select coalesce(nullif(srtext, ''), proj4text) from spatial_ref_sys
          where spatial_ref_sys.srid = coverage.srid and coverage.srid >= ${sql.lit(ADDED_SRIDS.first)}
        ), 'origin', json_build_array(origin_x, origin_y),
        'pixel', json_build_array(pixel_width, pixel_height), 'size', json_build_array(width, height)
      ) order by id
    )
    from coverage
    where release_id = release.id
  ),
  'layers', (
    select json_agg(
      json_build_object(
        'layer', ordinal, 'grid', (
          select count(*) from coverage where coverage.release_id = release.id and coverage.id <= band.coverage_id
        ),
        'band', band, 'input', input, 'scenario', scenario, 'condition', condition, 'role', role, 'unit', unit,
        'scale', scale, 'offset', "offset", 'decimals', decimals, 'probability', probability,
        'range', case when range_from is not null then json_build_array(range_from, range_to) end
      ) order by ordinal
    )
    from (
      select
        ordinal, coverage_id, band, input, scenario, condition, null as role, unit, scale, "offset", decimals,
        probability, range_from, range_to
      from layer
      where release_id = release.id
      union all
      select
        ordinal, coverage_id, band, input, scenario, condition, role, unit, scale, "offset", decimals,
        null, null, null
      from companion
      where release_id = release.id
    ) as band
  )
)`

/**
 * Computes the root of a release whose grids have hashes.
 *
 * @returns false where it was deleted or moved meanwhile: tiles may have been missing, so nothing is stored
 */
export async function storeRoot(
  db: Kysely<Tables>,
  { id, store }: Pick<WatchedRelease, 'id' | 'store'>,
  gridRoots: Buffer[],
): Promise<boolean> {
  const found = await db
    .selectFrom('release')
    .select(HEADER.as('header'))
    .where('id', '=', id)
    .where('status', '=', 'ready')
    .where('tile_store', '=', store)
    .executeTakeFirst()
  if (!found) return false
  const header = JSON.stringify(found.header)
  const grids = Buffer.concat(gridRoots)
  const root = combineHashes(hashHeader(header), computeRoot(grids))
  const proof = { root, header, grids }
  await db
    .insertInto('release_proof')
    .values({ release_id: id, ...proof })
    .onConflict((conflict) => conflict.column('release_id').doUpdateSet(proof))
    .execute()
  return true
}

/**
 * Equal hashes may be there, of a process that computes the same. After an error, written ones remain until their coverage
 * is deleted, or are written again.
 */
export function createHashWriter(db: Kysely<Tables>, coverageId: number) {
  const insert = (rows: HashChunk[]) => sql`
    insert into proof_node (coverage_id, level, chunk, hashes)
    select ${coverageId}::bigint, level, chunk, hashes
    from unnest(
      ${rows.map(({ level }) => level)}::integer[],
      ${rows.map(({ chunk }) => chunk)}::integer[],
      ${rows.map(({ hashes }) => hashes)}::bytea[]
    ) as node (level, chunk, hashes)
    on conflict (coverage_id, level, chunk) do update set hashes = excluded.hashes`
  return batchRows(db, ({ hashes }) => hashes.length, insert)
}

const encodedRoot = sql`translate(encode(root, 'base64'), '+/=', '-_')`
const ofRelease = (column: RawBuilder<unknown>) =>
  sql`(select ${column} from release_proof where release_id = release.id)`

/** What a release says of its root. */
export const RELEASE_MEMBERS: ReleaseMember[] = [
  { name: 'merkle_root', schema: MERKLE_ROOT, value: ofRelease(encodedRoot) },
  { name: 'merkle_header', schema: MERKLE_HEADER, value: ofRelease(sql.ref('header')) },
]

/** A release without hashes, of a load of before or one that this process computes. */
export interface ClaimedRelease extends WatchedRelease {
  grids: (GridSize & { id: number })[]
}

/** Takes a release without hashes for ten minutes, a published one first. */
export async function claimUnproven(db: Kysely<Tables>): Promise<ClaimedRelease | undefined> {
  const { rows } = await sql<ClaimedRelease>`
    with claimed as (
      insert into release_proof (release_id, leased_until)
      select id, now() + interval '10 minutes'
      from release
      where status = 'ready' and not exists (
        select from release_proof
        where release_id = release.id and (root is not null or leased_until > now())
      )
      order by not exists (select from publication where release_id = release.id), id
      limit 1
      on conflict (release_id) do update set leased_until = excluded.leased_until
      where release_proof.root is null and release_proof.leased_until <= now()
      returning release_id
    )
    select
      id,
      code,
      tile_store as store,
      (
        select coalesce(json_agg(json_build_object('id', id, 'width', width, 'height', height) order by id), '[]')
        from coverage
        where release_id = release.id
      ) as grids
    from release
    join claimed on claimed.release_id = release.id`.execute(db)
  return rows[0]
}

/** Keeps a claim for ten minutes more. */
export async function renewHashing(db: Kysely<Tables>, releaseId: number): Promise<void> {
  await sql`
    update release_proof set leased_until = now() + interval '10 minutes'
    where release_id = ${releaseId}`.execute(db)
}

/** Lets another process compute it at once. */
export async function giveBackHashing(db: Kysely<Tables>, releaseId: number): Promise<void> {
  await sql`
    update release_proof set leased_until = now()
    where release_id = ${releaseId} and root is null`.execute(db)
}

/** The roots of releases by their codes; those without one are left out. */
export async function findRoots(
  db: Kysely<Tables>,
  releaseIds: readonly number[],
): Promise<{ release: string; root: Buffer }[]> {
  const { rows } = await sql<{ release: string; root: Buffer }>`
    select code as release, root
    from release_proof
    join release on release.id = release_id
    where release_id = any(${releaseIds}::bigint[]) and root is not null
    order by code`.execute(db)
  return rows
}

/** A pixel of a grid with the hashes above it. */
export interface PlacedPixel {
  coverageId: number
  /** Its number in the release, from 1. */
  grid: number
  column: number
  row: number
  /** Of the whole grid. */
  width: number
  height: number
  /** Of its chunk of tiles; null where all of these are empty. */
  hashes: Buffer | null
  /** The roots of the chunks of its grid; a release with a root has them. */
  chunks: Buffer | null
}

export interface FoundProof {
  root: Buffer
  header: string
  grids: Buffer
  /** None of a deleted release. */
  pixels: PlacedPixel[]
}

/** The hashes above the pixels of a position by the ids of releases; those without a root are left out. */
export async function findProofs(
  db: Kysely<Tables>,
  releaseIds: readonly number[],
  { longitude, latitude }: { longitude: number; latitude: number },
): Promise<Map<number, FoundProof>> {
  const { rows } = await sql<
    Omit<FoundProof, 'pixels'> & { releaseId: number } & { [Of in keyof PlacedPixel]: PlacedPixel[Of] | null }
  >`
    select
      proof.release_id as "releaseId",
      proof.root,
      proof.header,
      proof.grids,
      place."coverageId",
      place.grid,
      place."column",
      place."row",
      place.width,
      place.height,
      part.hashes,
      top.hashes as chunks
    from release_proof as proof
    left join lateral (
      select
        coverage.id as "coverageId",
        (
          select count(*)::integer from coverage as other
          where other.release_id = coverage.release_id and other.id <= coverage.id
        ) as grid,
        cell.pixel_column as "column",
        cell.pixel_row as "row",
        coverage.width,
        coverage.height
      from coverage
      cross join lateral coverage_cell(coverage, ${longitude}::float8, ${latitude}::float8) as cell
      where coverage.release_id = proof.release_id
    ) as place on true
    left join proof_node as top on top.coverage_id = place."coverageId" and top.level = 1
    left join proof_node as part on part.coverage_id = place."coverageId" and part.level = 0
      and part.chunk = (
        place."row" / ${sql.lit(TILE_SIZE)} * ((place.width + ${sql.lit(TILE_SIZE - 1)}) / ${sql.lit(TILE_SIZE)})
        + place."column" / ${sql.lit(TILE_SIZE)}
      ) / ${sql.lit(CHUNK_TILES)}
    where proof.release_id = any(${releaseIds}::bigint[]) and proof.root is not null
    order by place.grid`.execute(db)
  const proofs = new Map<number, FoundProof>()
  for (const { releaseId, root, header, grids, ...pixel } of rows) {
    const proof = proofs.get(releaseId) ?? { root, header, grids, pixels: [] }
    proofs.set(releaseId, proof)
    if (pixel.coverageId !== null) proof.pixels.push(pixel as PlacedPixel)
  }
  return proofs
}
