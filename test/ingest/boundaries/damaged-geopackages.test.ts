import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OperatorError } from '#src/errors.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { boundaryFile } from '#test/setup/boundaries.ts'
import { geoPackageOf } from '#test/setup/geopackage.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/boundaries')
const ROWS = await readFile(join(FOLDER, 'rows.gpkg'))
const SHAPES = await readFile(join(FOLDER, 'shapes.gpkg'))

/** Both files have pages of this size. */
const PAGE_BYTES = 512
const INTERIOR = 0x05

/** A statement that makes a table of so many columns. */
function tableOf(columns: number): string {
  return `CREATE TABLE areas (geom BLOB${Array.from({ length: columns - 1 }, (_, index) => `, c${index}`).join('')})`
}

function rowsOfNothing(count: number): string {
  return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO areas (geom) SELECT NULL FROM n`
}

async function countFeatures(bytes: Buffer): Promise<number> {
  const file = await openBoundaryFile(await boundaryFile(bytes, 'areas.gpkg'), { level: 1 })
  let count = 0
  for await (const _ of file.features(() => {})) count++
  return count
}

function changed(original: Buffer, change: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.from(original)
  change(bytes)
  return bytes
}

/** Where pages begin that have others below them, but for the first page of the file. */
function interiorPages(bytes: Buffer): number[] {
  const pages = Array.from({ length: bytes.length / PAGE_BYTES - 1 }, (_, index) => (index + 1) * PAGE_BYTES)
  return pages.filter((at) => bytes[at] === INTERIOR)
}

describe('a GeoPackage', () => {
  test.each<[what: string, bytes: () => Buffer | Promise<Buffer>, says: string | RegExp]>([
    ['of blanks', () => Buffer.alloc(5000, ' '), 'it is no SQLite file'],
    ['of nothing but a header', () => ROWS.subarray(0, 100), 'it is cut off or damaged'],
    [
      'with pages of 3 bytes',
      () => changed(ROWS, (bytes) => bytes.writeUInt16BE(3, 16)),
      'it is no SQLite file',
    ],
    [
      'that is another kind of SQLite file',
      () => geoPackageOf({ sql: 'DROP TABLE gpkg_geometry_columns; CREATE TABLE areas (geom)' }),
      'it has no table gpkg_geometry_columns',
    ],
    ['that lacks its second half', () => ROWS.subarray(0, 40 * PAGE_BYTES), 'it is cut off or damaged'],
    [
      'whose pages lead back to themselves',
      () =>
        changed(ROWS, (bytes) => {
          for (const at of interiorPages(bytes)) bytes.writeUInt32BE(at / PAGE_BYTES + 1, at + 8)
        }),
      'it is cut off or damaged',
    ],
    [
      'whose columns are computed',
      () => geoPackageOf({ sql: 'CREATE TABLE areas (geom BLOB, code AS (zeroblob(1000000000)))' }),
      'the columns of its areas are computed',
    ],
    [
      'of 8,000 rows of nothing in 2,000 columns',
      () => geoPackageOf({ sql: `CREATE TABLE areas (geom); ${rowsOfNothing(8000)}`, said: tableOf(2000) }),
      'the rows of its areas are from before most of its 2000 columns: `ogr2ogr` writes them anew',
    ],
  ])('%s is refused', async (_, bytes, says) => {
    await expect(countFeatures(await bytes())).rejects.toThrow(
      new OperatorError(`areas.gpkg is not a GeoPackage that can be read: ${says}.`),
    )
  })

  test('with a table of 2,000 columns is read', async () => {
    expect(await countFeatures(await geoPackageOf({ sql: `${tableOf(2000)}; ${rowsOfNothing(2)}` }))).toBe(2)
  })

  test('with any bytes changed is read or refused in a sentence', async () => {
    const change = fc.record({ at: fc.nat(), byte: fc.constantFrom(0, 1, 2, 5, 13, 127, 128, 255) })
    const outcomes = { read: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('rows', 'shapes'),
        fc.array(change, { minLength: 1, maxLength: 40 }),
        async (name, changes) => {
          const bytes = changed(name === 'rows' ? ROWS : SHAPES, (copy) => {
            for (const { at, byte } of changes) copy[placeOf(at, copy.length)] = byte
          })
          const outcome = await countFeatures(bytes).catch((error) => error)
          if (typeof outcome === 'number') outcomes.read++
          else {
            outcomes.refused++
            expect(outcome).toBeInstanceOf(OperatorError)
            expect(outcome.message).toMatch(/^areas\.gpkg [^\n]+\.$/)
          }
        },
      ),
      { numRuns: 300 },
    )
    expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(10)
  })
})

/** What decides is where pages begin: half of the changes are there. */
function placeOf(at: number, length: number): number {
  return (at % 2 === 0 ? Math.floor(at / 64) * PAGE_BYTES + (at % 32) : at) % length
}
