import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

export interface LayerSummary {
  input: string | null
  scenario: string | null
  unit: string
  validCount: number
  minimum: number | null
  maximum: number | null
  mean: number | null
  width: number
  height: number
}

/** The layers of a release with their statistics, in the order of the answers. */
export async function listLayers(db: Kysely<Tables>, releaseId: number): Promise<LayerSummary[]> {
  return db
    .selectFrom('layer')
    .innerJoin('coverage', 'coverage.id', 'layer.coverage_id')
    .select([
      'layer.input',
      'layer.scenario',
      'layer.unit',
      'layer.valid_count as validCount',
      'layer.minimum',
      'layer.maximum',
      'layer.mean',
      'coverage.width',
      'coverage.height',
    ])
    .where('layer.release_id', '=', releaseId)
    .orderBy('layer.ordinal')
    .execute()
}
