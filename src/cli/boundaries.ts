import { Command, InvalidArgumentError, Option } from 'commander'
import { LEVELS_BELOW, MAX_LEVEL } from '#schemas/areas.ts'
import type { FeatureReading } from '#src/ingest/boundaries/feature.ts'
import { type FileReport, loadBoundaries } from '#src/ingest/boundaries/load.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { type BoundaryInspection, inspectFile } from '#src/ingest/boundaries/properties.ts'
import type { AreaIssue } from '#src/ingest/boundaries/queries.ts'
import { CODE_RULES, type CodeRule, MAX_REPAIR } from '#src/ingest/boundaries/replace.ts'
import { givenEncoding } from '#src/ingest/boundaries/shapefile.ts'
import { command, lookInDatabase, withDatabase, withExamples } from './command.ts'
import { readPercent } from './publishing.ts'
import { formatTable } from './table.ts'
import { type Output, pathNamed, progressIfLong, say, showPassing } from './terminal.ts'

const FILES =
  'GeoJSON FeatureCollections, shapefiles (.shp), zip archives of one of them, or GeoPackages (.gpkg)'

const LAYER_OPTION = ['--layer <name>', 'which layer of a GeoPackage, or file of an archive'] as const

const ENCODING_OPTION = [
  '--encoding <name>',
  'what the texts of a shapefile are in, such as windows-1252; by its label when left out',
] as const

interface ReadingOptions extends Output {
  encoding?: string
  layer?: string
}

function readOptions({ encoding, layer }: ReadingOptions): FeatureReading {
  return {
    ...(layer !== undefined && { layer }),
    ...(encoding !== undefined && { encoding: givenEncoding(encoding) }),
  }
}

const inspect = command({
  usage: 'inspect <file...>',
  description: 'List the properties in files, and which of them would be taken for code, name and parent.',
  parameters: [FILES],
  options: [ENCODING_OPTION, LAYER_OPTION],
  examples: ['agro boundaries inspect regions.gpkg', 'agro boundaries inspect regions.zip --json'],
  async run(options: ReadingOptions, paths: string[]) {
    const inspections: BoundaryInspection[] = []
    for (const path of paths) {
      const file = await openBoundaryFile(pathNamed(path), readOptions(options))
      inspections.push(await inspectFile(file, (note) => say('note', note)))
    }
    return [inspections, inspections.map(inspectionText).join('\n\n')]
  },
})

function inspectionText({ file, features, source, level, properties, columns }: BoundaryInspection): string {
  const areas = `${file} has ${features} ${features === 1 ? 'feature' : 'features'}`
  const rows = columns.map(({ name, example, blank }) => [`  ${name}`, example ?? '', String(blank)])
  const list = formatTable(['  PROPERTY', 'FIRST VALUE', 'BLANK'], rows)
  if (!source) {
    return `${areas} with properties of no listed source: give --code-property and --name-property.\n${list}`
  }
  const roles = Object.entries(properties ?? {}).map(
    ([role, names]) => `${role} ${names.join(' or ') || 'none'}`,
  )
  const ofLevel = level === null ? '' : ` of level ${level}`
  return `${areas}${ofLevel} with properties of ${source}: ${roles.join(', ')}.\n${list}`
}

interface LoadOptions extends ReadingOptions {
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
  allowLost?: boolean
  allowTwins?: boolean
  dryRun?: boolean
}

const load = command({
  usage: 'load <file...>',
  description: 'Load the administrative areas of one level of a country, instead of those there are.',
  parameters: [`${FILES}, in WGS 84`],
  options: [
    new Option('--country <code>', 'the country, for example eth').makeOptionMandatory(),
    new Option('--level <number>', `0 for the country itself, down to ${MAX_LEVEL}`)
      .argParser(readLevel)
      .makeOptionMandatory(),
    ['--code-property <name>', 'the property with the code of an area; guessed when left out'],
    ['--name-property <name>', 'the property with its name; guessed when left out'],
    [
      '--parent-property <name>',
      'the property with the code of the area above, or none; guessed when left out',
    ],
    new Option(
      '--codes <rule>',
      'make codes of areas that have none of their own from their names, or leave such areas out',
    ).choices(CODE_RULES),
    ENCODING_OPTION,
    [LAYER_OPTION[0], `${LAYER_OPTION[1]}; the one named after the level when left out`],
    ['--source <text>', 'the source of the boundaries, for the catalog'],
    ['--licence <text>', 'their licence, for the catalog'],
    ['--strict', 'refuse files with notes, repairs, dropped features or new links'],
    new Option('--max-repair <percent>', 'refuse files of which a repair changes an area by more')
      .argParser(readPercent)
      .default(MAX_REPAIR, `${100 * MAX_REPAIR}%`),
    ['--allow-lost', 'let areas go of which the file has nothing that can be loaded'],
    ['--allow-twins', 'let several areas have the same geometry'],
    ['--dry-run', 'report the changes, and write nothing'],
  ],
  examples: [
    'agro boundaries load regions.geojson --country eth --level 1 --dry-run',
    'agro boundaries load regions.zip --country eth --level 1 --source OCHA --licence "CC BY-IGO"',
  ],
  async run(options: LoadOptions, paths: string[]) {
    const { level, codes, source, licence, strict = false, maxRepair, dryRun = false } = options
    const { allowLost, allowTwins } = options
    // A missing file is reported before a database is opened.
    const reading = { ...readOptions(options), level }
    const files = await Promise.all(paths.map((path) => openBoundaryFile(pathNamed(path), reading)))
    const open = dryRun ? lookInDatabase : withDatabase
    return open(async (database) => {
      const { read, stored, end } = showLoading()
      const { codeProperty: code, nameProperty: name, parentProperty: parent } = options
      const properties = { ...(code && { code }), ...(name && { name }), ...(parent && { parent }) }
      const request = { files, country: options.country, level, properties, codes, source, licence }
      const leniency = { strict, maxRepair, allowLost, allowTwins, dryRun }
      const loading = loadBoundaries(database, { ...request, ...leniency, read, stored })
      const { country, report } = await loading.finally(end)
      for (const note of report?.notes ?? []) say('note', note)
      const subject = `level ${level} of ${country}`
      const text = report
        ? reportText(subject, report, dryRun)
        : `The same files are loaded as ${subject}: nothing to do.`
      return [{ country, level, dryRun, report: report ?? null }, text] as const
    })
  },
})

/** Shows how far areas are read and stored, and between that for how long they are checked, unless it is soon done. */
function showLoading() {
  const read = progressIfLong('reading boundaries')
  let end: (() => void) | undefined
  let store: ((part: number) => void) | undefined
  return {
    read(part: number) {
      read(part)
      // Several areas may end at the end of the file.
      if (part >= 1) end ??= showPassing('checking boundaries')
    },
    stored(part: number) {
      end?.()
      store ??= progressIfLong('storing boundaries')
      store(part)
    },
    end: () => end?.(),
  }
}

export const boundariesCommand = withExamples(
  new Command('boundaries')
    .description('Load administrative areas, or look at files of them.')
    .addCommand(load, { isDefault: true })
    .addCommand(inspect),
  ['agro boundaries regions.geojson --country eth --level 1', 'agro boundaries inspect regions.gpkg'],
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

function findings(what: string, list: AreaIssue[]): string[] {
  if (list.length === 0) return []
  const rows = list.slice(0, LISTED).map(({ area, reason }) => [`  ${area}`, reason])
  const more = list.length > LISTED ? [`  and ${list.length - LISTED} more`] : []
  return [`${list.length} ${what}:`, formatTable(['  AREA', 'WHY'], rows), ...more]
}
