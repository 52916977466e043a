import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { ByteReader, readRecords, readShapes } from '#src/ingest/boundaries/shapefile.ts'
import { rectangle } from '#test/setup/square.ts'
import { clockwise, shapefileParts } from './shapefile.ts'

type Ring = [number, number][]

/** A square of some width. */
const square = (west: number, south: number, width: number) =>
  clockwise(rectangle(west, south, west + width, south + width))

const LAND = square(0, 0, 10)
const LAKE = square(2, 2, 4).toReversed()
const ISLAND = square(3, 3, 1)
const POND = square(3.25, 3.25, 0.5).toReversed()
const ELSEWHERE = square(20, 0, 5)

test.each<[what: string, rings: Ring[], polygons: Ring[][]]>([
  ['one ring', [LAND], [[LAND]]],
  ['a lake', [LAND, LAKE], [[LAND, LAKE]]],
  ['a lake that comes first', [LAKE, LAND], [[LAND, LAKE]]],
  [
    'an island with a pond in a lake',
    [LAND, LAKE, ISLAND, POND],
    [
      [LAND, LAKE],
      [ISLAND, POND],
    ],
  ],
  ['two lands, one with a lake', [ELSEWHERE, LAND, LAKE], [[ELSEWHERE], [LAND, LAKE]]],
  [
    'all rings the other way round',
    [LAND.toReversed(), LAKE.toReversed()],
    [[LAND.toReversed(), LAKE.toReversed()]],
  ],
  ['a hole in nothing', [LAND, square(30, 0, 1).toReversed()], [[LAND], [square(30, 0, 1).toReversed()]]],
  ['a ring without positions', [[], LAND], [[LAND]]],
])('the rings of a shape become polygons: %s', async (_, rings, polygons) => {
  const geometry =
    polygons.length === 1
      ? { type: 'Polygon', coordinates: polygons[0] }
      : { type: 'MultiPolygon', coordinates: polygons }
  expect(await shapesOf(rings)).toEqual([geometry])
})

test('shapes are the same in whatever pieces they come', async () => {
  const whole = await shapesOf([LAND, LAKE, ISLAND], 1e6)
  for (const size of [1, 3, 8, 100, 101]) expect(await shapesOf([LAND, LAKE, ISLAND], size)).toEqual(whole)
})

test('shapes that are no polygons say what they are, and null is none', async () => {
  const { shp = Buffer.alloc(0) } = shapefileParts([
    { properties: { A: '' }, ring: LAND },
    { properties: { A: '' }, ring: null },
  ])
  shp.writeInt32LE(1, 108)
  expect(await allShapes(shp, 64)).toEqual([{ type: 'Point' }, null])
  shp.writeInt32LE(7, 108)
  await expect(all(readShapes(readerOf(shp, 64)))).rejects.toThrow('shape 1 is of type 7, which there is not')
})

test('numbers and truth values of a .dbf are such, and blank ones no number', async () => {
  const records = ['12.50', '  ', 'T', 'n'].map((VALUE) => ({ properties: { VALUE }, ring: null }))
  const { dbf = Buffer.alloc(0) } = shapefileParts(records)
  const typed = async (type: string) => {
    dbf.write(type, 32 + 11)
    return (await all(readRecords(readerOf(dbf, 64), latin1))).map((row) => row?.VALUE)
  }
  expect((await typed('N')).slice(0, 2)).toEqual([12.5, Number.NaN])
  expect((await typed('L')).slice(2)).toEqual([true, false])
  expect(await typed('C')).toEqual(['12.50', '', 'T', 'n'])
})

test('a .dbf that has fewer records than it says is cut off', async () => {
  const { dbf = Buffer.alloc(0) } = shapefileParts([{ properties: { NAME: 'A' }, ring: null }])
  dbf.writeUInt32LE(2, 4)
  await expect(all(readRecords(readerOf(dbf, 64), latin1))).rejects.toThrow('its .dbf is cut off')
})

/** Bytes as they come from a disk or an archive: in pieces that have nothing to do with what is in them. */
function readerOf(bytes: Buffer, size: number): ByteReader {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
  return new ByteReader(Readable.from(pieces))
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

const latin1 = (bytes: Buffer) => bytes.toString('latin1')

const shapesOf = (rings: Ring[], size = 7) => {
  const { shp = Buffer.alloc(0) } = shapefileParts([{ properties: { A: '' }, ring: rings }])
  return allShapes(shp, size)
}

async function allShapes(shp: Buffer, size: number) {
  return (await all(readShapes(readerOf(shp, size)))).map(({ shape }) => shape)
}
