import { Command } from 'commander'
import { importDatabase } from '#src/database/transfer/import.ts'
import { withDatabase } from './database.ts'
import { countsOf, totalOf } from './export.ts'
import { pathNamed } from './files.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { progressIfLong } from './progress.ts'

export const importCommand = new Command('import')
  .description(
    'Read what `agro export` has written into a new database, as the owner of its schema: all of it or nothing. What is there then is compared with what was exported.',
  )
  .argument('<file>', 'a file of `agro export`, of the same version')
  .option(...JSON_OPTION)
  .action((file: string, output: Output) =>
    withDatabase(async ({ writer }) => {
      const digests = await importDatabase(writer, pathNamed(file), (phase) => progressIfLong(phase))
      const rows = totalOf(digests)
      print(
        output,
        { file, rows, tables: countsOf(digests) },
        `${rows} rows of ${Object.keys(digests).length} tables are there, the same as in ${file}.`,
      )
    }),
  )
withExamples(importCommand, 'agro import advisory.agro')
