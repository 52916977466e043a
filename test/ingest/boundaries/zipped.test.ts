import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { givenEncoding } from '#src/ingest/boundaries/encoding.ts'
import type { Reading } from '#src/ingest/boundaries/feature.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { deflatedZeros, zipOfPacked } from '#test/ingest/bombs.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { shapefileParts, zipOf } from '#test/setup/shapefile.ts'

function collection(name: string): Buffer {
  const features = [feature({ code: 'A', name }, rectangle(37, 8, 38, 9))]
  return Buffer.from(JSON.stringify({ type: 'FeatureCollection', features }))
}

function archive(files: Record<string, Buffer>): Promise<string> {
  const entries = Object.entries(files).map(([name, bytes]) => [name, new Uint8Array(bytes)])
  return boundaryFile(Buffer.from(zipSync(Object.fromEntries(entries))), 'areas.zip')
}

async function namesIn(path: string, reading: Partial<Reading> = {}): Promise<unknown[]> {
  const file = await openBoundaryFile(path, { level: 1, ...reading })
  const names: unknown[] = []
  for await (const { properties } of file.features(() => {})) names.push(properties.name ?? properties.NAME)
  return names
}

test('GeoJSON in an archive is read, as GADM packs it', async () => {
  expect(await namesIn(await archive({ 'gadm41_ETH_1.json': collection('Tigré') }))).toEqual(['Tigré'])
})

test('of several GeoJSON files the one of the level is read, or the one that is named', async () => {
  const path = await archive({
    'gadm41_ETH_1.json': collection('region'),
    'gadm41_ETH_2.json': collection('zone'),
    'license.txt': Buffer.from('...'),
    '__MACOSX/._gadm41_ETH_1.json': Buffer.from('x'),
  })
  expect(await namesIn(path)).toEqual(['region'])
  expect(await namesIn(path, { level: 2 })).toEqual(['zone'])
  expect(await namesIn(path, { layer: 'gadm41_ETH_2' })).toEqual(['zone'])
})

test('of the same areas as a shapefile and as GeoJSON the shapefile is read, as geoBoundaries packs them', async () => {
  const parts = shapefileParts([{ properties: { NAME: 'shape' }, ring: null }])
  const path = await archive({
    'geoBoundaries-ETH-ADM1.geojson': collection('json'),
    'geoBoundaries-ETH-ADM1-metaData.json': Buffer.from('{}'),
    'geoBoundaries-ETH-ADM1.shp': parts.shp as Buffer,
    'geoBoundaries-ETH-ADM1.dbf': parts.dbf as Buffer,
  })
  expect(await namesIn(path)).toEqual(['shape'])
})

test.each<[what: string, write: () => Promise<string>, says: string | RegExp]>([
  [
    'with a GeoPackage alone',
    () => archive({ 'a.gpkg': Buffer.from('x') }),
    'areas.zip holds a GeoPackage, which is read once it is unpacked: `unzip areas.zip`.',
  ],
  [
    'with GeoJSON that is cut off',
    () => archive({ 'a.json': collection('x').subarray(0, 90) }),
    'areas.zip/a.json is not GeoJSON: at its beginning it is cut off or is not JSON.',
  ],
  [
    'with GeoJSON that has more bytes than it says',
    () => boundaryFile(zipOfPacked([{ name: 'a.json', data: deflatedZeros(1e6), bytes: 10 }]), 'areas.zip'),
    /^areas\.zip cannot be unpacked: too many bytes in the stream/,
  ],
])('an archive %s is refused', async (_, write, says) => {
  await expect(write().then((path) => namesIn(path))).rejects.toThrow(says)
})

test('an option that a kind of file has no use for is refused', async () => {
  const path = await boundaryFile(collection('x'))
  await expect(namesIn(path, { layer: 'a' })).rejects.toThrow(
    `${path} has no layers: --layer is for GeoPackages and archives.`,
  )
  await expect(namesIn(path, { encoding: givenEncoding('1252') })).rejects.toThrow(
    `${path} says what its texts are in: --encoding is for shapefiles.`,
  )
  const parts = shapefileParts([{ properties: { NAME: 'S' }, ring: null }])
  const zipped = await boundaryFile(zipOf({ a: parts }), 'a.zip')
  expect(await namesIn(zipped, { encoding: givenEncoding('1252') })).toEqual(['S'])
})
