import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { givenEncoding } from '#src/ingest/boundaries/encoding.ts'
import type { FeatureReading } from '#src/ingest/boundaries/feature.ts'
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

async function namesIn(path: string, reading: Partial<FeatureReading> = {}): Promise<unknown[]> {
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

test('of files with the same name in several folders the one whose path is named is read', async () => {
  const path = await archive({ 'north/adm1.json': collection('N'), 'south/adm1.json': collection('S') })
  const which = 'give --layer, one of north/adm1, south/adm1.'
  await expect(namesIn(path)).rejects.toThrow(
    `areas.zip has several layers, and it is not clear which one is of level 1: ${which}`,
  )
  expect(await namesIn(path, { layer: 'south/adm1' })).toEqual(['S'])
  expect(await namesIn(path, { layer: 'North/ADM1' })).toEqual(['N'])
  await expect(namesIn(path, { layer: 'adm1' })).rejects.toThrow(
    'areas.zip has no layer adm1 (--layer); it has north/adm1, south/adm1.',
  )
})

test('of files that differ by their folder the level is that of their name, not of the folder', async () => {
  const path = await archive({
    'adm2/eth_adm1.json': collection('region'),
    'adm2/old/eth_adm1.json': collection('old region'),
    'adm2/eth_adm2.json': collection('zone'),
  })
  expect(await namesIn(path, { level: 2 })).toEqual(['zone'])
})

test('of files with the same name and several endings the one whose ending is named is read', async () => {
  const path = await archive({ 'a.json': collection('J'), 'a.geojson': collection('G') })
  await expect(namesIn(path, { layer: 'a' })).rejects.toThrow(
    'areas.zip has no layer a (--layer); it has a.json, a.geojson.',
  )
  expect(await namesIn(path, { layer: 'a.geojson' })).toEqual(['G'])
})

test('of files whose names differ in their capitals the one that is named letter by letter is read', async () => {
  const path = await archive({ 'Areas.json': collection('A'), 'areas.json': collection('a') })
  expect(await namesIn(path, { layer: 'areas' })).toEqual(['a'])
  await expect(namesIn(path, { layer: 'AREAS' })).rejects.toThrow(
    'areas.zip has several layers that AREAS may mean (--layer): Areas, areas.',
  )
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
  await expect(
    namesIn(await archive({ 'a.json': collection('x') }), { encoding: givenEncoding('1252') }),
  ).rejects.toThrow('areas.zip/a.json says what its texts are in: --encoding is for shapefiles.')
  const parts = shapefileParts([{ properties: { NAME: 'S' }, ring: null }])
  const zipped = await boundaryFile(zipOf({ a: parts }), 'a.zip')
  expect(await namesIn(zipped, { encoding: givenEncoding('1252') })).toEqual(['S'])
})
