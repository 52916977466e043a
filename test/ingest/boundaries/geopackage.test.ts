import { readFileSync } from 'node:fs'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RawFeature } from '#src/ingest/boundaries/feature.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { boundaryFile } from '#test/setup/boundaries.ts'
import { geoPackageOf } from './geopackage.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/boundaries')

interface Expected {
  properties: Record<string, unknown>
  geometry: { type: string; coordinates: unknown } | null
}

/** What OGR reads of a layer. */
const { features: EXPECTED } = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8')) as {
  features: Record<string, Expected[]>
}

const READABLE = Object.keys(EXPECTED).filter((layer) => !/seen|in utm/.test(layer))

test.each(READABLE)('the features of a GeoPackage are what OGR reads of them: %s', async (of) => {
  const [file, layer] = of.split(' ') as [string, string]
  const features = await read(join(FOLDER, file), layer)
  const found = features.map(({ number, properties: { fid, id, ...properties }, geometry }) => ({
    id: fid ?? id,
    number,
    properties,
    geometry,
  }))
  const expected = EXPECTED[of]?.map(({ properties, geometry }, index) => ({
    id: index + 1,
    number: index + 1,
    properties,
    geometry: polygonsOf(geometry),
  }))
  expect(found).toEqual(expected)
})

const LAYERS = join(FOLDER, 'layers.gpkg')

test('of several layers the one that is named is read, or the one named after the level', async () => {
  const names = async (layer: string | undefined, level: number) =>
    (await read(LAYERS, layer, level)).map(({ properties }) => properties.adm1_name)
  expect(await names(undefined, 1)).toEqual(['square ሀ é'])
  expect(await names(undefined, 2)).toEqual(['hole ሀ é', 'islands ሀ é'])
  expect(await names('ETH_admbnda_adm2_2021', 1)).toEqual(['hole ሀ é', 'islands ሀ é'])
})

test('a GeoPackage with a log of changes is refused until that is merged, and one beyond 256 MB', async () => {
  const bytes = await readFile(LAYERS)
  bytes.set([2, 2], 18)
  const path = await boundaryFile(bytes, 'open.gpkg')
  await writeFile(`${path}-wal`, '')
  expect(await read(path)).toHaveLength(1)
  await writeFile(`${path}-wal`, 'x')
  await expect(read(path)).rejects.toThrow(
    `open.gpkg is not complete without open.gpkg-wal: close the programs that have it open, or copy it with \`ogr2ogr OUT.gpkg ${path}\`.`,
  )
  await truncate(path, 300 * 2 ** 20)
  await truncate(`${path}-wal`, 0)
  await expect(read(path)).rejects.toThrow(
    `open.gpkg has 300 MB; GeoPackages of at most 256 MB are read: \`ogr2ogr -t_srs EPSG:4326 areas.geojson ${path} LAYER\` makes a file of any size of one layer.`,
  )
})

test.each<[text: string, says: string | undefined]>([
  ["'\uFFFD'", undefined],
  ["CAST(x'41ff42' AS TEXT)", 'The encoded data was not valid for encoding utf-8'],
])('a text is what the file has, and no bytes are taken for a text: %s', async (text, says) => {
  const sql = `CREATE TABLE areas (geom BLOB, code TEXT); INSERT INTO areas VALUES (NULL, ${text})`
  const features = read(await boundaryFile(await geoPackageOf({ sql }), 'areas.gpkg'))
  if (says === undefined) expect(await features).toMatchObject([{ properties: { code: '\uFFFD' } }])
  else await expect(features).rejects.toThrow(`areas.gpkg is not a GeoPackage that can be read: ${says}.`)
})

test('whole numbers beyond 2^53 keep their digits', async () => {
  const sql =
    'CREATE TABLE areas (geom BLOB, code); INSERT INTO areas VALUES (NULL, 9007199254740993), (NULL, 5)'
  const features = await read(await boundaryFile(await geoPackageOf({ sql }), 'areas.gpkg'))
  expect(features.map(({ properties }) => properties.code)).toEqual(['9007199254740993', 5])
})

async function read(path: string, layer?: string, level = 1): Promise<RawFeature[]> {
  const file = await openBoundaryFile(path, { level, ...(layer !== undefined && { layer }) })
  const features: RawFeature[] = []
  for await (const feature of file.features(() => {})) features.push(feature)
  return features
}

/** Without heights and measures, and without what is no polygon: what is read. */
function polygonsOf(geometry: unknown): unknown {
  if (Array.isArray(geometry)) {
    return typeof geometry[0] === 'number' ? geometry.slice(0, 2) : geometry.map(polygonsOf)
  }
  if (typeof geometry !== 'object' || geometry === null) return geometry
  const { type, ...shape } = geometry as Expected['geometry'] & object
  if (type === 'Point') return { type }
  return Object.fromEntries([
    ['type', type],
    ...Object.entries(shape).map(([key, value]) => [key, polygonsOf(value)]),
  ])
}
