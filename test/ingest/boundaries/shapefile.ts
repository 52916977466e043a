import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { newFolder } from '#test/setup/folders.ts'
import type { Rectangle } from '#test/setup/square.ts'

type Ring = [number, number][]

/** A record of a shapefile: its texts, and its ring (clockwise), or several; null where it has no shape. */
export interface ShapeRecord {
  properties: Record<string, string>
  ring: Ring | Ring[] | null
}

/** The ring of a rectangle, the way round that shapefiles have lands. */
export const clockwise = ({ coordinates: [ring = []] }: Rectangle): Ring => ring.toReversed()

export const WGS84_PRJ =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

const POLYGON = 5
const HEADER_BYTES = 100
const FIELD_BYTES = 32
const TEXT_BYTES = 40

/** The files of a shapefile of polygons with text fields, in UTF-8, by their endings. */
export function shapefileParts(records: ShapeRecord[], prj = WGS84_PRJ): Record<string, Buffer> {
  return { shp: shpOf(records), dbf: dbfOf(records), prj: Buffer.from(prj), cpg: Buffer.from('UTF-8') }
}

function shpOf(records: ShapeRecord[]): Buffer {
  const bodies = records.map(({ ring }, index) => {
    const content = ring ? polygon(ringsOf(ring)) : Buffer.alloc(4)
    const header = Buffer.alloc(8)
    header.writeInt32BE(index + 1, 0)
    header.writeInt32BE(content.length / 2, 4)
    return Buffer.concat([header, content])
  })
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeInt32BE(9994, 0)
  header.writeInt32BE((HEADER_BYTES + Buffer.concat(bodies).length) / 2, 24)
  header.writeInt32LE(1000, 28)
  header.writeInt32LE(POLYGON, 32)
  return Buffer.concat([header, ...bodies])
}

function ringsOf(ring: Ring | Ring[]): Ring[] {
  return typeof ring[0]?.[0] === 'number' ? [ring as Ring] : (ring as Ring[])
}

function polygon(rings: Ring[]): Buffer {
  const positions = rings.flat()
  const content = Buffer.alloc(44 + 4 * rings.length + 16 * positions.length)
  content.writeInt32LE(POLYGON, 0)
  content.writeInt32LE(rings.length, 36)
  content.writeInt32LE(positions.length, 40)
  let first = 0
  for (const [index, ring] of rings.entries()) {
    content.writeInt32LE(first, 44 + 4 * index)
    first += ring.length
  }
  for (const [index, [x, y]] of positions.entries()) {
    content.writeDoubleLE(y, content.writeDoubleLE(x, 44 + 4 * rings.length + 16 * index))
  }
  return content
}

function dbfOf(records: ShapeRecord[]): Buffer {
  const names = Object.keys(records[0]?.properties ?? {})
  const header = Buffer.alloc(32)
  header.writeUInt8(3, 0)
  header.writeUInt32LE(records.length, 4)
  header.writeUInt16LE(32 + FIELD_BYTES * names.length + 1, 8)
  header.writeUInt16LE(1 + TEXT_BYTES * names.length, 10)
  const fields = names.map((name) => {
    const field = Buffer.alloc(FIELD_BYTES)
    field.write(name.slice(0, 10), 0)
    field.write('C', 11)
    field.writeUInt8(TEXT_BYTES, 16)
    return field
  })
  const rows = records.flatMap(({ properties }) => [
    Buffer.from(' '),
    ...names.map((name) => {
      const cell = Buffer.alloc(TEXT_BYTES, ' ')
      cell.write(properties[name] ?? '')
      return cell
    }),
  ])
  return Buffer.concat([header, ...fields, Buffer.from('\r'), ...rows, Buffer.from('\x1a')])
}

/** Writes the files side by side; returns the path of the .shp. */
export async function writeShapefile(parts: Record<string, Buffer>, stem = 'areas'): Promise<string> {
  const folder = await newFolder()
  for (const [ending, bytes] of Object.entries(parts))
    await writeFile(join(folder, `${stem}.${ending}`), bytes)
  return join(folder, `${stem}.shp`)
}

export function zipOf(shapefiles: Record<string, Record<string, Buffer>>): Buffer {
  const entries = Object.entries(shapefiles).flatMap(([stem, parts]) =>
    Object.entries(parts).map(([ending, bytes]) => [`${stem}.${ending}`, new Uint8Array(bytes)]),
  )
  return Buffer.from(zipSync(Object.fromEntries(entries)))
}
