import { randomInt } from 'node:crypto'
import { Command } from 'commander'
import { PRODUCTS } from '#schemas/products/index.ts'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import { comparePlaces } from './comparison.ts'

/**
 * Asks about random places, and holds what memory and database say of them together against PostGIS alone: in which
 * areas they lie, which country is nearest, what would be with longitude and latitude swapped, and which products have
 * a value there. Prints what it has counted; exits with 1 where anything differs.
 *
 *   node bin/run.mjs test/advice/location/compare-places.ts --places 200000
 *
 * DATABASE_URL names the database, or DATA_DIR the folder of an embedded one: with boundaries, and nothing is written.
 */

const options = new Command('node bin/run.mjs test/advice/location/compare-places.ts')
  .description('Hold answers about places against PostGIS alone.')
  .option('--places <number>', 'how many', Number, 200_000)
  .option('--seed <number>', 'what they are drawn by', Number, randomInt(2 ** 31))
  .parse()
  .opts<{ places: number; seed: number }>()

const config = loadConfig({ LOG_LEVEL: 'silent', ...process.env })
const cluster = await openCluster(config)
const database = cluster.connect()
try {
  console.error(`${options.places} places by seed ${options.seed}`)
  const comparison = await comparePlaces(database, config, PRODUCTS, options)
  for (const { place, answer, expected } of comparison.differences) {
    console.error(
      `${JSON.stringify(place)}: ${JSON.stringify(answer)} instead of ${JSON.stringify(expected)}`,
    )
  }
  const { places, inside, near, swapped, withValue, differences } = comparison
  console.log(
    `${places} places: ${inside} in areas (${withValue} with a value), ${near} near a country, ${swapped} of them ` +
      `with a hint; ${differences.length} differences`,
  )
  if (differences.length > 0) process.exitCode = 1
} finally {
  await database.close()
  await cluster.close()
}
