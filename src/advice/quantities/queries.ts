import type { Db } from '#src/data/tables.ts'

/** The nutrients of an input, in percent of its weight. */
export interface Composition {
  name: string
  n: number
  p2o5: number
  k2o: number
  s: number
}

export function listCompositions(db: Db): Promise<Composition[]> {
  return db
    .selectFrom('input_composition')
    .select(['name', 'n', 'p2o5', 'k2o', 's'])
    .orderBy('name')
    .execute()
}
