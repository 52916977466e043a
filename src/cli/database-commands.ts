import { migrate } from '#src/data/migrate.ts'
import { REFERENCE_FILE } from '#src/data/reference.ts'
import { grantService } from '#src/data/rights.ts'
import { schemaState } from '#src/data/schema-state.ts'
import { createMonthsAhead } from '#src/history/queries.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { summariseCoverages } from '#src/ingest/pixel-writing.ts'
import { command, onDatabase } from './command.ts'
import { type Output, progressLine, report } from './terminal.ts'

export const migrateCommand = command({
  usage: 'migrate',
  description:
    'Bring the database schema up to date. The service does this by itself when it starts, unless MIGRATE_ON_START is false.',
  options: [['--force', 'go on where older versions run that a migration breaks']],
  examples: ['agro migrate', 'agro migrate --force'],
  run: ({ force = false }: Output & { force?: boolean }) =>
    onDatabase(async (database) => {
      const applied = await migrate(database.writer, undefined, {
        progress: report,
        force: force || database.kind === 'embedded',
      })
      const { noWayBack: all } = await schemaState(database.writer)
      // A new database has nothing to go back to.
      const noWayBack = all.filter((name) => applied.includes(name) && !applied.includes(REFERENCE_FILE))
      await createMonthsAhead(database.writer)
      const progress = progressLine('summarising rasters')
      const summarised = await summariseCoverages(database, (done, of) => progress(done / of))
      const lines = applied.map((name) => `applied ${name}`)
      if (applied.length === 0) lines.push('The schema is up to date.')
      for (const name of noWayBack) lines.push(`No way back: versions without ${name} cannot go on.`)
      if (summarised > 0) {
        lines.push(`Summarised ${summarised} rasters that were loaded before there were summaries.`)
      }
      return [{ applied, no_way_back: noWayBack, summarised }, lines.join('\n')]
    }),
})

export const grantsCommand = command({
  usage: 'grants <role>',
  description:
    'Grant a role the rights of the service: read and write rows, change no table. Run as the owner of the schema, after `agro migrate`.',
  parameters: ['the role that the service connects as'],
  examples: ['agro grants agro_service'],
  async look({ writer }, _: Output, role: string) {
    await grantService(writer, role)
    return [{ role }, `${role} has the rights that the service needs.`]
  },
})

export const demoCommand = command({
  usage: 'demo',
  description: 'Publish the synthetic demo releases, unless something real is published.',
  examples: ['agro demo'],
  async change(database) {
    const progress = progressLine('seeding synthetic demo data')
    const published = await seedDemo(database, ({ loaded, of }) => progress(loaded / of))
    const text = `Published ${published} synthetic releases. They are not advice.`
    return [{ published }, published === 0 ? 'Nothing to do.' : text]
  },
})
