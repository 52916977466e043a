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

/** Adds a composition, or replaces the one of that name, in any case. @returns whether it is new */
export async function saveComposition(db: Db, composition: Composition): Promise<boolean> {
  const removed = await deleteComposition(db, composition.name)
  await db.insertInto('input_composition').values(composition).execute()
  return !removed
}

/** @returns whether it existed */
export async function deleteComposition(db: Db, name: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('input_composition')
    .where(({ eb, fn }) => eb(fn<string>('lower', ['name']), '=', fn<string>('lower', [eb.val(name)])))
    .executeTakeFirst()
  return numDeletedRows > 0n
}
