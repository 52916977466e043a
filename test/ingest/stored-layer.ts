import { sql } from 'kysely'
import { ingestManifest, manifestText, writeManifest } from './fixtures.ts'
import type { RefusingIngest } from './refusals.ts'

/** Loads a layer as a release of a month; gives what is stored of it, and what it comes from. */
export async function storedLayer(
  { database, folder }: RefusingIngest,
  layer: Record<string, unknown>,
  month: string,
): Promise<unknown[]> {
  const text = manifestText([layer], { forecast_period: month })
  const { code } = await ingestManifest(database, await writeManifest(folder, text))
  const { rows } = await sql`
    select checksum, layer.scale, layer.minimum, layer.maximum, layer.mean, layer.valid_count
    from release join layer on layer.release_id = release.id
    where code = ${code}`.execute(database.writer)
  return rows
}
