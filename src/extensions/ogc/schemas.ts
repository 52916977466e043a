import { type Static, Type } from 'typebox'
import { areaLevel } from '#schemas/areas.ts'
import * as t from '#schemas/common.ts'
import { FORECAST_MONTH } from '#schemas/glossary.ts'
import { type ProductContract, productSchema } from '#schemas/product.ts'

export const COVERAGE_DEFAULTS = { level: 1, limit: 1000 } as const

/** Why an area has no value of a product. */
const COVERAGE_REASONS = ['NO_RELEASE', 'CROP_NOT_AVAILABLE', 'OUTSIDE_GRID', 'NO_DATA'] as const

export function defineCoverageQuery(products: readonly ProductContract[]) {
  return Type.Object({
    level: Type.Optional(
      areaLevel(`The level of the areas, 0 for countries; ${COVERAGE_DEFAULTS.level} when left out.`, 1),
    ),
    country_code: t.filter(`Only this country, in any case: one of ${t.COUNTRY_CODES}.`, 'eth'),
    area: t.filter('Only this area of the level, by its code in `GET /admin`.'),
    product: Type.Optional(productSchema(products, 'Only this product.')),
    crop: t.filter('Only this crop, in any case.'),
    release: Type.Optional(
      t.text(
        300,
        'Only this release, by its code, in its country. It may be one that is not published any more.',
      ),
    ),
    limit: t.pageLimit(
      5000,
      COVERAGE_DEFAULTS.limit,
      'The most areas to answer with. A page for which much has to be computed ends earlier.',
    ),
    cursor: t.Cursor,
  })
}
export type CoverageQuery = Static<ReturnType<typeof defineCoverageQuery>>

/** How much of an area has values of a release, and the reason for none. */
export type CoverageEntry = Static<
  ReturnType<typeof defineCoverageSchemas>['list']
>['items'][number]['products'][number]

export function defineCoverageSchemas(products: readonly ProductContract[]) {
  const ofProduct = t.component('CoverageOfProduct', 'How much of an area has values of a release.', {
    product: productSchema(products, 'The subject of the advice.'),
    crop: t.orNull(Type.String({ examples: ['wheat'] })),
    release: t.orNull(
      Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
      'Null where none is published.',
    ),
    forecast_period: t.orNull(Type.String({ examples: ['2026-07'] }), `${FORECAST_MONTH} As \`YYYY-MM\`.`),
    covered_percent: t.percent('How much of the area has values: of the layer that has most of them.', 98.2),
    code: t.choice(
      COVERAGE_REASONS,
      'Why the area has no value at all: nothing is published; the country offers no such crop; the area lies outside the grid of the release; its pixels in the area have no value.',
    ),
    reason: Type.Optional(
      t.string(
        'The same as a sentence.',
        'No yield predictions of wheat for Ethiopia have been published yet.',
      ),
    ),
  })
  const area = t.component('CoverageOfArea', 'The coverage of an administrative area.', {
    country_code: Type.String({ examples: ['eth'] }),
    level: Type.Integer({ examples: [1] }),
    code: Type.String({ examples: ['ETH-01'] }),
    name: Type.String(),
    products: t.array(ofProduct, 'By product and crop; the newest month first.'),
  })
  const list = t.component('CoverageList', {
    items: t.array(area, 'By country, in the order of their codes.'),
    next_cursor: t.stringOrNull('The `cursor` of the next page; null where this is the last one.'),
  })
  const table = t.textBody(
    'CoverageCsv',
    'A header and a row for each area and release (RFC 4180, UTF-8). Its next page is in the `Link` header.',
    'country_code,level,code,name,product,crop,release,forecast_period,covered_percent,reason\r\neth,1,ETH-01,Tigray,yield,wheat,yield-eth-wheat-2026-07-v1,2026-07,98.2,\r\n',
  )
  return { list, table, components: [ofProduct, area, list, table] }
}
