import { Command, InvalidArgumentError, Option } from 'commander'
import { LEVELS_BELOW, MAX_LEVEL } from '#schemas/areas.ts'
import { CODE_RULES, type CodeRule } from '#src/ingest/boundaries/codes.ts'
import { givenEncoding } from '#src/ingest/boundaries/encoding.ts'
import type { Reading } from '#src/ingest/boundaries/feature.ts'
import { type Inspection, inspectFile } from '#src/ingest/boundaries/inspect.ts'
import { type FileReport, loadBoundaries } from '#src/ingest/boundaries/load.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { MAX_REPAIR } from '#src/ingest/boundaries/replace.ts'
import type { Finding } from '#src/ingest/boundaries/staging-queries.ts'
import { readPercent } from './comparison.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { progressIfLong, whileShown } from './progress.ts'
import { table } from './table.ts'
import { JSON_OPTION, type Output, pathNamed, print, say, withExamples } from './terminal.ts'

export const FILES =
  'GeoJSON FeatureCollections, shapefiles (.shp), zip archives of one of them, or GeoPackages (.gpkg)'

export const LAYER_OPTION = ['--layer <name>', 'which layer of a GeoPackage, or file of an archive'] as const

export const ENCODING_OPTION = [
  '--encoding <name>',
  'what the texts of a shapefile are in, such as windows-1252; by its label when left out',
] as const

export interface ReadingOptions {
  encoding?: string
  layer?: string
}

export function readingOf({ encoding, layer }: ReadingOptions): Reading {
  return {
    ...(layer !== undefined && { layer }),
    ...(encoding !== undefined && { encoding: givenEncoding(encoding) }),
  }
}

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

interface LoadOptions extends Output, ReadingOptions {
  country: string
  level: number
  codeProperty?: string
  nameProperty?: string
  parentProperty?: string
  codes?: CodeRule
  source?: string
  licence?: string
  strict?: boolean
  maxRepair: number
  dryRun?: boolean
}

const loadCommand = new Command('load')
  .description('Load the administrative areas of one level of a country, in the place of those there are.')
  .argument('<file...>', `${FILES}, in WGS 84`)
  .requiredOption('--country <code>', 'the country, for example eth')
  .requiredOption('--level <number>', `0 for the country itself, down to ${MAX_LEVEL}`, readLevel)
  .option('--code-property <name>', 'the property with the code of an area; guessed when left out')
  .option('--name-property <name>', 'the property with its name; guessed when left out')
  .option(
    '--parent-property <name>',
    'the property with the code of the area above, or none; guessed when left out',
  )
  .addOption(
    new Option(
      '--codes <rule>',
      'make codes of areas that have none of their own from their names, or leave such areas out',
    ).choices(CODE_RULES),
  )
  .option(...ENCODING_OPTION)
  .option(LAYER_OPTION[0], `${LAYER_OPTION[1]}; the one named after the level when left out`)
  .option('--source <text>', 'the source of the boundaries, for the catalog')
  .option('--licence <text>', 'their licence, for the catalog')
  .option('--strict', 'refuse files that need repairs, dropped features or new links')
  .addOption(
    new Option('--max-repair <percent>', 'refuse files of which a repair changes an area by more')
      .argParser(readPercent)
      .default(MAX_REPAIR, `${100 * MAX_REPAIR}%`),
  )
  .option('--dry-run', 'report the changes, and write nothing')
  .option(...JSON_OPTION)
  .action(async (paths: string[], options: LoadOptions) => {
    // A file can be missing without a database: say so before one is opened.
    const reading = { ...readingOf(options), level: options.level }
    const files = await Promise.all(paths.map((path) => openBoundaryFile(pathNamed(path), reading)))
    const open = options.dryRun ? lookInDatabase : withDatabase
    await open(async (database) => {
      const { read, stored, end } = showLoading()
      const loading = loadBoundaries(database, {
        files,
        country: options.country,
        level: options.level,
        properties: {
          ...(options.codeProperty && { code: options.codeProperty }),
          ...(options.nameProperty && { name: options.nameProperty }),
          ...(options.parentProperty && { parent: options.parentProperty }),
        },
        codes: options.codes,
        source: options.source,
        licence: options.licence,
        strict: options.strict ?? false,
        maxRepair: options.maxRepair,
        dryRun: options.dryRun ?? false,
        read,
        stored,
      })
      const { country, report } = await loading.finally(end)
      const { level, dryRun = false } = options
      for (const note of report?.notes ?? []) say('note', note)
      const subject = `level ${level} of ${country}`
      print(
        options,
        { country, level, dryRun, report: report ?? null },
        report
          ? reportText(subject, report, dryRun)
          : `The same files are loaded as ${subject}: nothing to do.`,
      )
    })
  })
withExamples(
  loadCommand,
  'agro boundaries load regions.geojson --country eth --level 1 --dry-run',
  'agro boundaries load regions.zip --country eth --level 1 --source OCHA --licence "CC BY-IGO"',
)

/** Shows how far areas are read and stored, and between that for how long they are checked, unless it is soon done. */
function showLoading() {
  const reading = progressIfLong('reading boundaries')
  let storing: ((part: number) => void) | undefined
  let isRead = false
  let end = () => {}
  const begin = () =>
    whileShown(
      'checking boundaries',
      new Promise<void>((resolve) => {
        end = resolve
      }),
    )
  return {
    read: (part: number) => {
      reading(part)
      // Several areas may end at the end of the file.
      if (part < 1 || isRead) return
      isRead = true
      void begin()
    },
    stored: (part: number) => {
      end()
      storing ??= progressIfLong('storing boundaries')
      storing(part)
    },
    end: () => end(),
  }
}

export const boundariesCommand = new Command('boundaries')
  .description('Load administrative areas, or look at files of them.')
  .addCommand(loadCommand, { isDefault: true })
  .addCommand(inspectCommand)
withExamples(
  boundariesCommand,
  'agro boundaries regions.geojson --country eth --level 1',
  'agro boundaries inspect regions.gpkg',
)

function readLevel(text: string): number {
  const level = /^\d$/.test(text) ? Number(text) : Number.NaN
  if (level <= MAX_LEVEL) return level
  throw new InvalidArgumentError(`It must be 0, ${LEVELS_BELOW.slice(0, -1).join(', ')} or ${MAX_LEVEL}.`)
}

const LISTED = 20

function reportText(subject: string, report: FileReport, dryRun: boolean): string {
  const { added, updated, removed, unnamed, approximateDeleted } = report
  const lines = [
    ...findings('repaired', report.repaired),
    ...findings('dropped', report.dropped),
    ...findings('without a code of their own: made from the name', report.coded),
    ...findings('not linked to a parent by its code', report.reparented),
    ...findings('of the level below linked to another parent', report.relinked),
  ]
  if (report.elsewhere > 0) lines.push(`${report.elsewhere} of other countries were left out.`)
  if (unnamed > 0) lines.push(`${unnamed} without a name: their codes stand for it.`)
  for (const level of approximateDeleted) {
    lines.push(`The approximate areas of level ${level} are deleted: they do not fit into real ones.`)
  }
  const areas = `${added + updated} ${added + updated === 1 ? 'area' : 'areas'}`
  lines.push(
    `Now ${subject} has ${areas}: ${added} new, ${updated} with a code that was there, ${removed} removed.`,
  )
  if (dryRun) lines.push('Nothing was written: this was a dry run.')
  return lines.join('\n')
}

function findings(what: string, list: Finding[]): string[] {
  if (list.length === 0) return []
  const rows = list.slice(0, LISTED).map(({ area, reason }) => [`  ${area}`, reason])
  const more = list.length > LISTED ? [`  and ${list.length - LISTED} more`] : []
  return [`${list.length} ${what}:`, table(['  AREA', 'WHY'], rows), ...more]
}
