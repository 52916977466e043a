import type { Database } from '#src/database/client.ts'
import { lockWork } from '#src/database/work-lock.ts'
import { listCountryEntries } from '#src/domains/reference/queries.ts'
import { listReleases } from '#src/domains/releases/queries.ts'
import { loadRelease } from '../load.ts'
import { seedAreas } from './areas.ts'
import { DEMO_RELEASES, demoSource } from './source.ts'

/** Any constant will do, as long as every process that seeds uses the same. */
const SEED_LOCK = 7_239_442

/**
 * Loads the synthetic demo releases, the countries' outlines and approximate areas into a database where
 * nothing real is published: of the countries and crops of the demo those that the database has. What is
 * there already stays, so a seeding that was cut off is completed by the next.
 *
 * @returns how many releases were published
 */
export async function seedDemo(
  database: Database,
  progress: (done: number, of: number) => void,
): Promise<number> {
  const { unlock } = await lockWork(database, SEED_LOCK)
  try {
    const releases = await listReleases(database.writer)
    if (releases.some(({ publishedAt, synthetic }) => publishedAt && !synthetic)) return 0
    const countries = await listCountryEntries(database.writer)
    const missing = DEMO_RELEASES.filter(
      (demo) =>
        countries.some(
          ({ code, crops }) =>
            code === demo.countryCode && (demo.cropCode === null || crops.includes(demo.cropCode)),
        ) &&
        !releases.some(
          (release) =>
            release.publishedAt &&
            release.product === demo.product.code &&
            release.countryCode === demo.countryCode,
        ),
    )
    await seedAreas(database)
    for (const [index, release] of missing.entries()) {
      await loadRelease(database, demoSource(release))
      progress(index + 1, missing.length)
    }
    return missing.length
  } finally {
    unlock()
  }
}
