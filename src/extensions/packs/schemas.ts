import { Type } from 'typebox'
import { areaLevel } from '#schemas/areas.ts'
import type { ReleaseLink } from '#schemas/catalog.ts'
import * as t from '#schemas/common.ts'
import { LayerName } from '#schemas/map.ts'

/** The formats of packs, by the endings of their addresses. */
export const PACK_FORMATS = ['html', 'csv', 'parquet', 'mbtiles'] as const
export type PackFormat = (typeof PACK_FORMATS)[number]

/** The packs of a country, which have the releases that answer. */
export const packsOfCountry: ReleaseLink = {
  name: 'packs',
  title: 'An area in one file, for use without a network',
  description:
    'Where packs of areas of its country are, which have the releases that answer: a template (RFC 6570) of `area` and `format`. Null where it is not published, and where the service offers no files.',
  example: 'https://advice.example.org/packs/eth/{area}.{format}',
  variables: {
    area: { type: 'string', description: 'The code of an area, as GET /places finds it.' },
    format: { type: 'string', enum: [...PACK_FORMATS] },
  },
  address: ({ DOWNLOAD_CACHE_MB }: { DOWNLOAD_CACHE_MB: number }, root, countryCode) =>
    DOWNLOAD_CACHE_MB > 0 ? `${root}/packs/${countryCode}/{area}.{format}` : null,
}

/** Other texts are unknown countries and areas: nothing else is wrong with them. */
export const PackParams = Type.Object({
  country: t.text(100, 'The code of the country, in any case.', 'eth'),
  area: t.text(200, 'The code of the area, in any case, as `GET /places` finds it.', 'ETH-01'),
})

const Level = Type.Optional(
  areaLevel('Of areas with the same code on several levels, this one; without it the highest.', 1),
)

export const PackQuery = Type.Object({ level: Level })

export const PackTilesQuery = Type.Object({
  level: Level,
  release: Type.Optional(
    t.text(
      200,
      'The tiles show a layer of this release, which has to be one of the pack; by default the first one.',
    ),
  ),
  layer: Type.Optional(LayerName),
})

export const PackPage = t.file('PackPage', 'A page with script, style and data in one file.')
export const PackTable = t.file('PackTable', 'A row for each pixel that the area covers, in UTF-8.')
export const PackParquet = t.file('PackParquet', 'GeoParquet 1.1 with the places of rows as points.')
export const PackTiles = t.file('PackTiles', 'MBTiles 1.3: tiles of a map as PNG, in a SQLite file.')
