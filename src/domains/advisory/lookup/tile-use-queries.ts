import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { Series } from '#src/products/series.ts'
import type { Position } from './queries.ts'

/** How often the tile at a position has been asked for, in the releases of a product, country and crop. */
export interface TileUse extends Omit<Series, 'forecastPeriod'>, Position {
  uses: number
}

/** What is asked for changes with the seasons: a use counts half after so many seconds. */
const HALF_LIFE = 7 * 24 * 3600

/** After so many of these nothing is left of a use. PostgreSQL refuses to compute what is nearer to 0, or too large. */
const MOST_HALVES = 500

/** What the uses of a row come to now, of the table by this name, whatever clock it was written by. */
const USES_NOW = sql`
  kept.uses * power(0.5::float8, least(greatest(
    extract(epoch from now() - kept.used_at)::float8 / ${sql.lit(HALF_LIFE)}, 0), ${sql.lit(MOST_HALVES)}))`

/** Those that were asked for most, first. */
export async function findMostUsed(db: Kysely<Tables>, most: number): Promise<TileUse[]> {
  const { rows } = await sql<TileUse>`
    select
      product, country_code as "countryCode", crop_code as "cropCode", longitude, latitude,
      ${USES_NOW} as uses
    from tile_use as kept
    order by 6 desc
    limit ${most}`.execute(db)
  return rows
}

/** Adds to what is known, in one order for all processes. */
export async function addTileUses(db: Kysely<Tables>, uses: TileUse[]): Promise<void> {
  const column = <Key extends keyof TileUse>(key: Key) => uses.map((use) => use[key])
  await sql`
    insert into tile_use as kept (product, country_code, crop_code, longitude, latitude, uses)
    select product, country_code, crop_code, longitude, latitude, sum(uses)
    from unnest(
      ${column('product')}::text[], ${column('countryCode')}::text[], ${column('cropCode')}::text[],
      ${column('longitude')}::float8[], ${column('latitude')}::float8[], ${column('uses')}::float8[]
    ) as arriving (product, country_code, crop_code, longitude, latitude, uses)
    group by product, country_code, crop_code, longitude, latitude
    order by product, country_code, crop_code, longitude, latitude
    on conflict (product, country_code, crop_code, longitude, latitude) do update set
      uses = ${USES_NOW} + excluded.uses,
      used_at = now()`.execute(db)
}

/** Keeps the most used alone, and those that another process is adding to. */
export async function forgetLeastUsed(db: Kysely<Tables>, most: number): Promise<void> {
  await sql`
    delete from tile_use
    where (select count(*) from tile_use) > ${most}
      and ctid in (
        select ctid from tile_use
        where ctid = any (array(select ctid from tile_use as kept order by ${USES_NOW} desc offset ${most}))
        for update skip locked
      )`.execute(db)
}
