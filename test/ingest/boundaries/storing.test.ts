// Runs on a server alone: the statements are those of every load, and the embedded database takes long for so many positions.
import type { KyselyPlugin } from 'kysely'
import { expect, test } from 'vitest'
import { readShape } from '#src/ingest/boundaries/feature.ts'
import { type StagedArea, stageAreas } from '#src/ingest/boundaries/queries.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openTestDatabase } from '#test/setup/database.ts'

test('large areas are stored part by part, and the operator is told how far it is', async () => {
  const opened = await openTestDatabase('empty')
  const path = await boundaryFile([circle('A', 37, 60_000), circle('B', 38, 39_998), circle('C', 39, 9)])
  const parts: number[] = []
  const report = await loadFile(opened.database, path, 'eth', 1, { stored: (part) => parts.push(part) })
  const { rows } = await opened.database.pool.query(`
    select area.code, count(*)::integer as pieces, round((sum(st_area(piece.geom)) / st_area(area.geom))::numeric, 9) as covered
    from admin_area as area join admin_area_piece as piece on piece.admin_area_id = area.id
    group by area.id order by area.code`)
  await opened.close()
  expect(report).toMatchObject({ added: 3, updated: 0, removed: 0 })
  expect(parts).toEqual([100_000 / 100_010, 1])
  expect(rows).toEqual(
    ['A', 'B', 'C'].map((code) => ({ code, pieces: expect.any(Number), covered: '1.000000000' })),
  )
})

test('areas with long texts go to the database in several statements, as those with large geometries do', async () => {
  const opened = await openTestDatabase('empty')
  const { wkb } = readShape(rectangle(37, 8, 38, 9)) as { wkb: Buffer }
  async function* areas(): AsyncGenerator<StagedArea> {
    for (const code of ['A', 'B', 'C', 'D', 'E']) {
      yield { origin: code, code, name: 'é'.repeat(300_000), parentCode: null, wkb }
    }
  }
  let inserts = 0
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      if (JSON.stringify(node).includes('insert into staged_area')) inserts++
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const transaction = opened.database.writer.withPlugin(counting).transaction()
  const count = await transaction.execute((trx) => stageAreas(trx, areas()))
  await opened.close()
  // A MiB is full with the second area, and with the fourth.
  expect({ count, inserts }).toEqual({ count: 5, inserts: 3 })
})

/** A round area of so many positions. */
function circle(code: string, west: number, positions: number): object {
  const ring = Array.from({ length: positions }, (_, index) => {
    const angle = (2 * Math.PI * index) / positions
    return [west + 0.4 * Math.cos(angle), 8 + 0.4 * Math.sin(angle)]
  })
  return feature({ code, name: code }, { type: 'Polygon', coordinates: [[...ring, ring[0]]] })
}
