import { Option } from 'commander'
import { layerName } from '#src/advice/comparison/figures.ts'
import type { CheckName, ReleaseIssue } from '#src/catalog/release-checks.ts'
import {
  findPublished,
  type LayerSummary,
  listLayers,
  type ReleaseRow,
} from '#src/catalog/release-queries.ts'
import { refusePast } from '#src/catalog/schedule-queries.ts'
import { listExtensionsThatAreOn, loadConfig } from '#src/config.ts'
import { nameOfCrs } from '#src/data/crs.ts'
import type { Database } from '#src/data/database.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { inspect, type Leniency, type ReleaseInspection, refusingChecks } from '#src/ingest/checks/index.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { examineRelease, extentOrRefuse, type Ingestion, ingestRelease } from '#src/ingest/load.ts'
import { findFolderReader, type Manifest, parseManifest, readManifest } from '#src/ingest/manifest.ts'
import { findLoaded, refuseUnknownSeries } from '#src/ingest/queries.ts'
import { compareLayers, type ReleaseSource } from '#src/ingest/source.ts'
import type { CoverageStatistics } from '#src/ingest/statistics.ts'
import type { LevelExtent } from '#src/raster/grid.ts'
import { type CommandAnswer, command, lookInDatabase, withDatabase } from './command.ts'
import {
  allowOption,
  type LimitedPublishing,
  maxChangeOption,
  notPublished,
  printIssues,
  publishWithin,
  STRICT_OPTION,
} from './publishing.ts'
import { scheduleChecked } from './releases.ts'
import { formatNumber, formatTable, readTime, timeText } from './table.ts'
import {
  type Output,
  pathNamed,
  progressIfLong,
  progressLine,
  refuse,
  report,
  undoneByInterrupt,
} from './terminal.ts'

type CoverageFacts = ReturnType<typeof listFacts>[number]
type LayerFacts = CoverageFacts['layers'][number]

/** The coverages of a release as read. */
function listFacts({ coverages }: ReleaseSource, extents: LevelExtent[], read: CoverageStatistics[]) {
  return coverages.map(({ grid }, index) => ({
    grid,
    extent: extents[index] as LevelExtent,
    layers: (read[index] as CoverageStatistics).layers.map(({ layer, statistics }) => {
      const { input, scenario, condition, role, unit, pixelType, origin } = layer
      return {
        ...{ input, scenario, unit, pixelType },
        ...(condition !== undefined && { condition }),
        ...(role && { role }),
        ...statistics,
        origin,
      }
    }),
  }))
}

function coverageReport({ grid, extent, layers }: CoverageFacts, crs: string): string[] {
  const unit = grid.srid === 4326 ? 'degrees' : 'CRS units'
  const pixels = grid.width * grid.height
  const rows = layers.map((layer) => [
    layerName(layer),
    layer.unit,
    layer.pixelType,
    `${((100 * layer.validCount) / pixels).toFixed(2)} %`,
    ...[layer.minimum, layer.maximum, layer.mean].map(formatNumber),
    layer.origin,
  ])
  return [
    `grid: ${grid.width} x ${grid.height} pixels of ${grid.pixelWidth} x ${Math.abs(grid.pixelHeight)} ${unit}, ${crs}`,
    `extent: ${[extent.west, extent.south, extent.east, extent.north].map((degrees) => degrees.toFixed(5)).join(', ')} (west, south, east, north)`,
    formatTable(['LAYER', 'UNIT', 'TYPE', 'VALID', 'MINIMUM', 'MAXIMUM', 'MEAN', 'FROM'], rows),
    '',
  ]
}

async function differences(db: Db, coverages: CoverageFacts[], published: ReleaseRow): Promise<string[]> {
  const before = new Map((await listLayers(db, published.id)).map((layer) => [layerName(layer), layer]))
  const after = coverages.flatMap(({ grid, layers }) => layers.map((layer) => ({ ...layer, grid })))
  const rows = after
    .toSorted((a, b) => compareLayers(a, b))
    .map((layer) => [layerName(layer), describeChange(before.get(layerName(layer)), layer)])
  const loaded = new Set(after.map(layerName))
  const gone = [...before.keys()].filter((name) => !loaded.has(name)).map((name) => [name, 'would be gone'])
  return [
    `Against ${published.code}, which is published now:`,
    formatTable(['LAYER', 'CHANGE'], [...rows, ...gone]),
  ]
}

function describeChange(
  before: LayerSummary | undefined,
  { grid, ...now }: LayerFacts & Pick<CoverageFacts, 'grid'>,
): string {
  if (!before) return 'is new'
  const changes = [
    difference('minimum', before.minimum, now.minimum),
    difference('maximum', before.maximum, now.maximum),
    difference('mean', before.mean, now.mean),
    difference('valid pixels', before.validCount, now.validCount),
    before.width === grid.width && before.height === grid.height
      ? undefined
      : `grid ${before.width} x ${before.height} -> ${grid.width} x ${grid.height}`,
  ]
  return changes.filter(Boolean).join('; ') || 'same size, count, minimum, maximum and mean'
}

function difference(what: string, before: number | null, now: number | null): string | undefined {
  if (before === now) return undefined
  const percent =
    before && now !== null
      ? ` (${now >= before ? '+' : ''}${((100 * (now - before)) / Math.abs(before)).toFixed(1)} %)`
      : ''
  return `${what} ${formatNumber(before)} -> ${formatNumber(now)}${percent}`
}

interface IngestOptions extends Output {
  dryRun?: boolean
  publish: boolean
  force?: boolean
  allow: CheckName[]
  strict?: boolean
  maxChange?: number
  publishAt?: Date
  source?: string
  licence?: string
}

export const ingestCommand = command({
  usage: 'ingest <manifest>',
  description: 'Load the rasters of a manifest as a release and publish it.',
  parameters: [
    'a YAML file, which docs/manifest.md describes; or a folder of rasters, where nothing is uncertain',
  ],
  options: [
    ['--dry-run', 'report the release and its differences, and write nothing'],
    ['--no-publish', 'load without publishing; see `agro releases publish`'],
    new Option('--publish-at <time>', 'publish it at this time, for example 2026-12-01T06:00Z')
      .argParser(readTime)
      .conflicts('maxChange'),
    ['--source <text>', 'the source of the data of a folder, for the catalog'],
    ['--licence <text>', 'their licence, for the catalog'],
    ['--force', 'load it even if the same data are published, or synthetic data would replace real data'],
    allowOption(),
    maxChangeOption(),
    STRICT_OPTION,
  ],
  examples: [
    'agro ingest wheat-2026-08.yaml --dry-run',
    'agro ingest wheat-2026-08.yaml',
    'agro ingest wheat-2026-08.yaml --no-publish',
    'agro ingest wheat-2026-08.yaml --publish-at 2026-08-01T06:00Z',
    'agro ingest wheat-2026-08.yaml --allow range,month',
    'agro ingest wheat-2026-08.yaml --max-change 25%',
    'agro ingest examples/season --dry-run',
  ],
  async run(options: IngestOptions, given: string) {
    const path = pathNamed(given)
    const open = options.dryRun ? lookInDatabase : withDatabase
    const isOn = (name: string) => listExtensionsThatAreOn(loadConfig()).includes(name)
    const readFolder = await findFolderReader(path, isOn)
    if (readFolder) {
      return open(async (database) => ingestAll(database, await readFolder(database, path, options), options))
    }
    if (options.source !== undefined || options.licence !== undefined)
      throw new OperatorError('--source and --licence are of a folder: a manifest has its own.')
    // A wrong manifest is reported before a database is opened.
    const manifest = await readManifest(path)
    return open((database) => ingest(database, manifest, options))
  },
})

/** The releases of a folder, one after the other. What refuses one keeps no other back. */
async function ingestAll(
  database: Database,
  { manifests, said }: { manifests: { path: string; text: string }[]; said: string[] },
  options: IngestOptions,
): Promise<CommandAnswer> {
  for (const line of said) report(line)
  const releases: object[] = []
  const texts: string[] = []
  const refusals: OperatorError[] = []
  for (const { path, text } of manifests) {
    try {
      const [answer, said] = await ingest(database, await parseManifest(path, text), options)
      releases.push(answer as object)
      texts.push(said)
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      const { message, code, answer } = error
      releases.push({ ...answer, error: message, code })
      refusals.push(error)
    }
  }
  const [first] = refusals
  if (!first) return [{ releases }, texts.join('\n')]
  const message = refusals.map(({ message }) => message).join('\n')
  return refuse(options, { releases }, new OperatorError(message, { code: first.code }), texts.join('\n'))
}

async function ingest(
  database: Database,
  manifest: Manifest,
  options: IngestOptions,
): Promise<CommandAnswer> {
  await refuseUnknownSeries(database.writer, manifest)
  if (options.publishAt) await refusePast(database.writer, options.publishAt)
  const release = await openGeoTiffs(database.writer, manifest)
  try {
    const { description } = release
    const published = await findPublished(database.writer, description)
    const extents = await Promise.all(release.coverages.map((coverage) => extentOrRefuse(database, coverage)))
    const leniency = { allow: [...(manifest.allow ?? []), ...options.allow], strict: options.strict }
    const inspection = await inspect(database.writer, release, extents, leniency)
    if (options.dryRun) return await examine(database, release, extents, inspection, published, options)
    if (description.synthetic && published?.synthetic === false && isToPublish(options) && !options.force) {
      throw new OperatorError(
        `${published.code} is published, and these values are synthetic: --no-publish loads them beside it, --force replaces it.`,
      )
    }
    return await load(database, release, inspection, leniency, options)
  } finally {
    await release.close()
  }
}

function isToPublish({ publish, publishAt }: IngestOptions): boolean {
  return publish || publishAt !== undefined
}

async function examine(
  database: Database,
  release: ReleaseSource,
  extents: LevelExtent[],
  inspection: ReleaseInspection,
  published: ReleaseRow | undefined,
  output: Output,
): Promise<CommandAnswer> {
  const read = await examineRelease(release, progressLine('reading'))
  const findings = await inspection.after(read)
  printIssues(findings)
  const coverages = listFacts(release, extents, read)
  const answer = { dryRun: true, published: published?.code ?? null, coverages, findings }
  const { writer } = database
  const reports = await Promise.all(
    coverages.map(async (facts) => coverageReport(facts, await nameOfCrs(writer, facts.grid.srid))),
  )
  const changes = !published
    ? ['Nothing is published for it yet: it would be the first.']
    : published.checksum === release.description.checksum
      ? [`It is the same as ${published.code}, layer by layer.`]
      : await differences(writer, coverages, published)
  const text = [...reports.flat(), ...changes, 'Nothing was written.'].join('\n')
  const refusing = refusingChecks(findings).join()
  if (refusing === '') return [answer, text]
  const sentence = `Refused by ${refusing}: mend that first. Where it is right as it is, --allow ${refusing} publishes it.`
  return refuse(output, answer, new OperatorError(sentence, { code: 'CHECKS' }), text)
}

async function load(
  database: Database,
  release: ReleaseSource,
  { before, after }: ReleaseInspection,
  leniency: Leniency,
  options: IngestOptions,
): Promise<CommandAnswer> {
  const { force, maxChange, publishAt } = options
  const same = force ? undefined : await findLoaded(database.writer, release.description)
  const said = same ? [] : before
  printIssues(said)
  const refusingBefore = refusingChecks(said)
  if (isToPublish(options) && refusingBefore.length > 0) {
    refuse(
      options,
      { release: null, loaded: false, published: false, findings: before },
      new OperatorError(
        `Nothing is loaded: mend that first. Where it is right as it is, --allow ${refusingBefore.join()} publishes it.`,
        {
          code: 'CHECKS',
        },
      ),
    )
  }
  const started = Date.now()
  const progress = progressLine('loading')
  const publish = options.publish && publishAt === undefined
  const isLimited = publish && maxChange !== undefined
  const done = await undoneByInterrupt(async (signal): Promise<Done> => {
    const loading = {
      publish: publish && !isLimited,
      force,
      leniency,
      progress,
      check: after,
      signal,
      report,
      clearing: (code: string) => progressIfLong(`deleting the rest of ${code}`),
    }
    const ingestion = await ingestRelease(database, release, loading)
    if (publishAt || isLimited) return publishSeparately(database, ingestion, leniency, options, signal)
    return ingestion
  })
  const { code, published, scheduled, findings, sentence } = done
  printIssues(findings.filter((finding) => !isAmong(said, finding)))
  const seconds = (Date.now() - started) / 1000
  const [answer, text] = [describeDone(done, seconds), formatDone(done, seconds)]
  if (isToPublish(options) && !published && !scheduled) {
    refuse(
      options,
      answer,
      sentence ? new OperatorError(sentence, { code: 'CHECKS' }) : notPublished(code, findings),
      text,
    )
  }
  return [answer, text]
}

/** An ingestion that may be refused for its changes, or scheduled. */
type Done = Ingestion & Pick<LimitedPublishing, 'change' | 'sentence'> & { scheduled?: Date }

/** Schedules a loaded release, or compares it before it is published. */
async function publishSeparately(
  database: Database,
  ingestion: Ingestion,
  leniency: Leniency,
  { publishAt, maxChange }: IngestOptions,
  signal: AbortSignal,
): Promise<Done> {
  const { code, publishedBefore, findings } = ingestion
  if (publishedBefore || refusingChecks(findings).length > 0) return ingestion
  const done = publishAt
    ? await inTransaction(database.writer, async (trx) => {
        const found = await scheduleChecked(trx, code, publishAt, leniency)
        return { findings: found, scheduled: refusingChecks(found).length > 0 ? undefined : publishAt }
      })
    : await publishWithin(database, code, leniency, maxChange, signal)
  const others = done.findings.filter((finding) => !isAmong(findings, finding))
  return { ...ingestion, ...done, findings: [...findings, ...others] }
}

function isAmong(findings: readonly ReleaseIssue[], { sentence }: ReleaseIssue): boolean {
  return findings.some((other) => other.sentence === sentence)
}

function describeDone(ingestion: Done, seconds: number): object {
  const { code, loaded, published, publishedBefore, scheduled, replaced = null, ...rest } = ingestion
  const { tiles, findings, change } = rest
  const done = { release: code, loaded, published, scheduled }
  if (loaded) return { ...done, replaced, tiles, seconds, findings, change }
  return publishedBefore ? done : { ...done, replaced, findings, change }
}

function formatDone(
  { code, loaded, published, publishedBefore, scheduled, replaced, tiles }: Done,
  seconds: number,
): string {
  const instead = replaced ? ` instead of ${replaced}` : ''
  const wait = scheduled && `to be published at ${timeText(scheduled)} UTC`
  if (loaded) {
    const state = published ? `is published${instead}` : `is complete and ${wait ?? 'not published'}`
    return `${code} ${state}: ${tiles} tiles in ${seconds.toFixed(1)} s.`
  }
  if (published && !publishedBefore) return `${code}, which has the same data, is published${instead}.`
  if (wait) return `${code}, which has the same data, is ${wait}.`
  const state = published ? 'published as' : 'loaded, and not published, as'
  return `The same data are ${state} ${code}: nothing to do (--force loads them again).`
}
