import type { OpenAPIV3_1 } from 'openapi-types'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { createTestApp } from '#test/setup/app.ts'
import { WITH_LIME } from './lime.ts'

describe('the documents of a service with more products', () => {
  type Document = OpenAPIV3_1.Document & { components: { schemas: Record<string, object> } }
  let usual: Document
  let document: Document
  beforeAll(async () => {
    const { app, database, testDatabase, close } = await createTestApp({ products: WITH_LIME })
    const usualApp = await buildApp(testDatabase.config, database)
    usual = (await usualApp.inject('/openapi.json')).json()
    await usualApp.close()
    document = (await app.inject('/openapi.json')).json()
    await close()
  })

  const operationsOf = ({ paths = {} }: Document) =>
    Object.values(paths).flatMap((path) =>
      Object.values(path ?? {}).map((operation) => (operation as { operationId: string }).operationId),
    )
  const added = (more: string[], before: string[]) => more.filter((name) => !before.includes(name))

  test('have their components and operations, and all that was there before', () => {
    const components = Object.keys(document.components.schemas)
    const before = Object.keys(usual.components.schemas)
    expect(added(before, components)).toEqual([])
    expect(added(components, before).sort()).toEqual(
      [
        ...[
          'LimeData',
          'LimeEntry',
          'LimeHistoryItem',
          'LimeItem',
          'LimePointsResponse',
          'LimeResponse',
          'LimeSection',
        ],
        ...['PolygonLimeEntry', 'PolygonLimeResponse', 'PolygonSoilEntry', 'PolygonSoilResponse'],
        ...[
          'SoilData',
          'SoilEntry',
          'SoilHistoryItem',
          'SoilItem',
          'SoilPointRemainder',
          'SoilPointRequest',
          'SoilPointsRequest',
          'SoilPointsResponse',
        ],
        ...['SoilPolygonRequest', 'SoilPolygonsRequest', 'SoilResponse', 'SoilSection'],
        ...['LimePolygonsResponse', 'PolygonLimeItem', 'PolygonSoilItem', 'SoilPolygonsResponse'],
      ].sort(),
    )
    expect(added(operationsOf(usual), operationsOf(document))).toEqual([])
    expect(added(operationsOf(document), operationsOf(usual)).sort()).toEqual(
      ['lime', 'soil']
        .flatMap((code) => [
          `${code}AtPoint`,
          `${code}AtPoints`,
          `${code}InPolygon`,
          `${code}InPolygons`,
          `get${code === 'lime' ? 'Lime' : 'Soil'}AtPoint`,
        ])
        .sort(),
    )
  })

  test('say of them what is said of the others', () => {
    const { LimeEntry, PolygonLimeEntry, Observed, SoilPointRequest, CatalogCountry, CatalogProduct } =
      document.components.schemas as Record<string, { properties: Record<string, object> }>
    expect(Object.keys(LimeEntry?.properties ?? {})).toEqual([
      'material',
      'scenario',
      'lime_tons_ha',
      'quantity',
    ])
    expect(PolygonLimeEntry?.properties.total_tons).toMatchObject({ type: 'number' })
    expect(Observed?.properties.lime_tons_ha).toMatchObject({ minimum: 0, maximum: 50 })
    expect(Object.keys(SoilPointRequest?.properties ?? {})).toEqual([
      ...['lat', 'lng', 'country_code', 'name', 'release', 'provenance', 'max_segments'],
    ])
    expect(CatalogCountry?.properties.crops).toMatchObject({
      description: 'Codes of the crops it offers; forage and soil need none.',
    })
    expect(CatalogProduct?.properties.product).toEqual({ $ref: '#/components/schemas/CatalogProductProduct' })
    expect(document.components.schemas.CatalogProductProduct).toMatchObject({
      enum: ['yield', 'fertilizer', 'isfm', 'forage', 'lime', 'soil'],
    })
    expect(document.info.description).toContain('forage suitability, lime rates and soil acidity')
    expect(document.paths?.['/advisory/lime']?.post?.summary).toBe('Lime rates in a polygon')
    expect(document.paths?.['/advisory/point']?.post?.description).toContain(
      'Yield, fertilizer, organic inputs, forage, lime and soil in one call',
    )
  })
})
