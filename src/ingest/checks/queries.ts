import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { findPlausibleRange } from '#src/domains/ranges/queries.ts'
import { listCountryExtents } from '#src/domains/reference/queries.ts'
import { OperatorError } from '#src/errors.ts'
import type { Products } from '#src/products/define.ts'
import type { Series } from '#src/products/series.ts'
import type { CoverageFacts, MeasuredLayer, Surroundings } from './facts.ts'
import type { Block } from './spread.ts'
import { type CountryPlace, countStoredBlocks, partWithValues } from './spread-queries.ts'

/** What the checks compare a release of a series with. */
export async function findSurroundings(
  db: Kysely<Tables>,
  series: Series & { synthetic: boolean },
  products: Products,
): Promise<Surroundings> {
  const countries = await listCountryExtents(db)
  const country = countries.find(({ code }) => code === series.countryCode)
  if (!country) throw new OperatorError(`There is no country ${series.countryCode}.`)
  const { code, name, extent } = country
  return {
    today: new Date(),
    country: { code, name, extent: extent && asExtent(extent) },
    newestMonth: await findNewestMonth(db, series),
    names: await findPublishedNames(db, series.product),
    plausible:
      (await findPlausibleRange(db, series.product, series.cropCode)) ??
      products.of(series.product).plausible,
  }
}

function asExtent([west, south, east, north]: readonly [number, number, number, number]) {
  return { west, south, east, north }
}

/** Real releases come before synthetic ones of any month: each kind has months of its own. */
async function findNewestMonth(
  db: Kysely<Tables>,
  { product, countryCode, cropCode, synthetic }: Series & { synthetic: boolean },
): Promise<string | null> {
  const { newest } = await db
    .selectFrom('publication')
    .innerJoin('release', 'release.id', 'publication.release_id')
    .select(({ fn }) => fn.max('publication.forecast_period').as('newest'))
    .where('publication.product', '=', product)
    .where('publication.country_code', '=', countryCode)
    .where('publication.crop_code', 'is not distinct from', cropCode)
    .where('release.synthetic', '=', synthetic)
    .executeTakeFirstOrThrow()
  return newest
}

async function findPublishedNames(db: Kysely<Tables>, product: string): Promise<Surroundings['names']> {
  const { rows } = await sql<Surroundings['names']>`
    select
      coalesce(array_agg(distinct input) filter (where input is not null), '{}') as inputs,
      coalesce(array_agg(distinct scenario) filter (where scenario is not null), '{}') as scenarios
    from publication
    join layer on layer.release_id = publication.release_id
    where publication.product = ${product}`.execute(db)
  return rows[0] as Surroundings['names']
}

/** What is stored of the coverages of a release and their layers. */
export async function listCoverageFacts(
  db: Kysely<Tables>,
  releaseId: number,
  country: CountryPlace,
): Promise<CoverageFacts<MeasuredLayer>[]> {
  const rows = await db
    .selectFrom('layer')
    .innerJoin('coverage', 'coverage.id', 'layer.coverage_id')
    .select([
      'coverage.id',
      'coverage.west',
      'coverage.south',
      'coverage.east',
      'coverage.north',
      'coverage.width',
      'coverage.height',
      'coverage.srid',
      'coverage.origin_x as originX',
      'coverage.origin_y as originY',
      'coverage.pixel_width as pixelWidth',
      'coverage.pixel_height as pixelHeight',
      'coverage.tile_size as tileSize',
      'layer.input',
      'layer.scenario',
      'layer.unit',
      'layer.valid_count as validCount',
      'layer.minimum',
      'layer.maximum',
    ])
    .where('layer.release_id', '=', releaseId)
    .orderBy('layer.ordinal')
    .execute()
  const coverages: CoverageFacts<MeasuredLayer>[] = []
  for (const coverage of new Map(rows.map((row) => [row.id, row])).values()) {
    const { id, west, south, east, north, width, height, tileSize } = coverage
    const extent = { west, south, east, north }
    const countBlocks = (level: number, blocks: Block[]) => countStoredBlocks(db, id, level, blocks)
    coverages.push({
      extent,
      pixels: width * height,
      spread: await partWithValues(db, country, { grid: coverage, extent, tileSize, countBlocks }),
      layers: rows
        .filter((row) => row.id === id)
        .map(({ input, scenario, unit, validCount, minimum, maximum }) => ({
          input,
          scenario,
          unit,
          origin: [input, scenario].filter((label) => label !== null).join(', '),
          statistics: { validCount, minimum, maximum },
        })),
    })
  }
  return coverages
}
