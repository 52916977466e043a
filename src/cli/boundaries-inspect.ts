import { Command } from 'commander'
import { type Inspection, inspectFile } from '#src/ingest/boundaries/inspect.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { ENCODING_OPTION, FILES, LAYER_OPTION, type ReadingOptions, readingOf } from './boundaries-reading.ts'
import { pathNamed } from './files.ts'
import { JSON_OPTION, type Output, print, say, withExamples } from './output.ts'
import { table } from './table.ts'

export const inspectCommand = new Command('inspect')
  .description('List the properties in files, and which of them would be taken for code, name and parent.')
  .argument('<file...>', FILES)
  .option(...ENCODING_OPTION)
  .option(...LAYER_OPTION)
  .option(...JSON_OPTION)
  .action(async (paths: string[], options: ReadingOptions & Output) => {
    const inspections: Inspection[] = []
    for (const path of paths) {
      const file = await openBoundaryFile(pathNamed(path), readingOf(options))
      inspections.push(await inspectFile(file, (note) => say('note', note)))
    }
    print(options, inspections, inspections.map(inspectionText).join('\n\n'))
  })
withExamples(
  inspectCommand,
  'agro boundaries inspect regions.gpkg',
  'agro boundaries inspect regions.zip --json',
)

function inspectionText({ file, features, source, level, properties, columns }: Inspection): string {
  const areas = `${file} has ${features} ${features === 1 ? 'feature' : 'features'}`
  const rows = columns.map(({ name, example, blank }) => [`  ${name}`, example ?? '', String(blank)])
  const list = table(['  PROPERTY', 'FIRST VALUE', 'BLANK'], rows)
  if (!source) {
    return `${areas} with properties of no source that is known: give --code-property and --name-property.\n${list}`
  }
  const roles = Object.entries(properties ?? {}).map(
    ([role, names]) => `${role} ${names.join(' or ') || 'none'}`,
  )
  const ofLevel = level === null ? '' : ` of level ${level}`
  return `${areas}${ofLevel} with properties of ${source}: ${roles.join(', ')}.\n${list}`
}
