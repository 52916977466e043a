import { Command } from 'commander'
import { exportDatabase } from '#src/database/transfer/export.ts'
import { type FileTotals, findFileTotals } from '#src/ingest/move-queries.ts'
import { lookInDatabase } from './database.ts'
import { sizeText } from './doctor/finding.ts'
import { pathNamed } from './files.ts'
import { JSON_OPTION, type Output, print, say, withExamples } from './output.ts'
import { progressIfLong } from './progress.ts'

export const exportCommand = new Command('export')
  .description(
    'Export all data into a file for `agro import`, to move between the embedded database and a server. On a server the service may keep running.',
  )
  .argument('<file>', 'the new file, readable by its owner only')
  .option(...JSON_OPTION)
  .action((file: string, output: Output) =>
    lookInDatabase(async ({ writer, files }) => {
      const digests = await exportDatabase(writer, pathNamed(file), progressIfLong('exporting'))
      const rows = totalOf(digests)
      print(
        output,
        { file, rows, tables: countsOf(digests) },
        `${file} has ${rows} rows of ${Object.keys(digests).length} tables.`,
      )
      const inFiles = await findFileTotals(writer)
      if (inFiles.releases > 0) say('note', filesText(inFiles, files?.place))
      say(
        'note',
        'It has the e-mails, the hashes of passwords and the histories of all accounts: keep it as you keep the database. JWT_SECRET (of the embedded database, DATA_DIR/jwt-secret) is not in it, and goes with it by another way: second factors and logins need the same one.',
      )
    }),
  )
withExamples(exportCommand, 'agro export advisory.agro')

/** What goes with an export by another way. */
function filesText({ releases, files, bytes }: FileTotals, place = 'the files of TILE_STORE'): string {
  return `The tiles of ${releases} releases are not in it, but in ${files} files (${sizeText(bytes)}) of ${place}. Where it is imported, TILE_STORE has to lead to these or to a copy, in which each file has the same path. Or move them into the database before: agro releases move RELEASE --to postgis.`
}

type Digests = Awaited<ReturnType<typeof exportDatabase>>

/** How many rows each table has. */
export function countsOf(digests: Digests): Record<string, number> {
  return Object.fromEntries(Object.entries(digests).map(([table, { rows }]) => [table, rows]))
}

export function totalOf(digests: Digests): number {
  return Object.values(digests).reduce((total, { rows }) => total + rows, 0)
}
