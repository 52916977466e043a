import { Command, Option } from 'commander'
import type { Database } from '#src/database/client.ts'
import type { CheckName, Finding } from '#src/database/findings.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { findPublished, type ReleaseRow } from '#src/domains/releases/queries.ts'
import { refusePast } from '#src/domains/releases/schedule-queries.ts'
import { OperatorError } from '#src/errors.ts'
import { type Inspection, inspect } from '#src/ingest/checks/index.ts'
import { type Leniency, refusingChecks } from '#src/ingest/checks/judgement.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { type Ingestion, ingestRelease } from '#src/ingest/ingest.ts'
import { examineRelease, extentOrRefuse } from '#src/ingest/load.ts'
import { findLoaded } from '#src/ingest/load-queries.ts'
import { readManifest } from '#src/ingest/manifest.ts'
import type { Manifest } from '#src/ingest/manifest-file.ts'
import { refuseUnknownSeries } from '#src/ingest/queries.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import type { Extent } from '#src/raster/grid.ts'
import { allowOption, notPublished, STRICT_OPTION, sayFindings } from './checks.ts'
import { lookInDatabase, tell, withDatabase } from './database.ts'
import { pathNamed } from './files.ts'
import { undoneByInterrupt } from './interrupt.ts'
import { type ExcessiveChange, maxChangeOption, publishWithin } from './max-change.ts'
import { JSON_OPTION, type Output, print, refuse, withExamples } from './output.ts'
import { progressIfLong, progressLine } from './progress.ts'
import { scheduleChecked } from './releases-schedule.ts'
import { factsOf, reportOf } from './report.ts'
import { readTime, timeText } from './time.ts'

interface IngestOptions extends Output {
  dryRun?: boolean
  publish: boolean
  force?: boolean
  allow: CheckName[]
  strict?: boolean
  maxChange?: number
  publishAt?: Date
}

export const ingestCommand = new Command('ingest')
  .description('Load the GeoTIFFs of a manifest as a release and publish it.')
  .argument('<manifest>', 'a YAML file; docs/manifest.md describes it')
  .option('--dry-run', 'report the release and its differences, and write nothing')
  .option('--no-publish', 'load without publishing; see `agro releases publish`')
  .addOption(
    new Option('--publish-at <time>', 'publish it at this time, for example 2026-12-01T06:00Z')
      .argParser(readTime)
      .conflicts('maxChange'),
  )
  .option('--force', 'load it even if the same data are published, or synthetic data would replace real data')
  .addOption(allowOption())
  .addOption(maxChangeOption())
  .option(...STRICT_OPTION)
  .option(...JSON_OPTION)
  .action(async (path: string, options: IngestOptions) => {
    // A manifest can be wrong without a database: say so before one is opened.
    const manifest = await readManifest(pathNamed(path))
    const open = options.dryRun ? lookInDatabase : withDatabase
    await open((database) => ingest(database, manifest, options))
  })
withExamples(
  ingestCommand,
  'agro ingest wheat-2026-08.yaml --dry-run',
  'agro ingest wheat-2026-08.yaml',
  'agro ingest wheat-2026-08.yaml --no-publish',
  'agro ingest wheat-2026-08.yaml --publish-at 2026-08-01T06:00Z',
  'agro ingest wheat-2026-08.yaml --allow range,month',
  'agro ingest wheat-2026-08.yaml --max-change 25%',
)

async function ingest(database: Database, manifest: Manifest, options: IngestOptions): Promise<void> {
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
        `${published.code} is published, and these values are synthetic: --no-publish loads them beside it, --force puts them in its place.`,
      )
    }
    await load(database, release, inspection, leniency, options)
  } finally {
    await release.close()
  }
}

/** Whether a release is to answer, now or at a time to come. */
function isToPublish({ publish, publishAt }: IngestOptions): boolean {
  return publish || publishAt !== undefined
}

async function examine(
  database: Database,
  release: ReleaseSource,
  extents: Extent[],
  inspection: Inspection,
  published: ReleaseRow | undefined,
  output: Output,
): Promise<void> {
  const read = await examineRelease(release, progressLine('reading'))
  const findings = await inspection.after(read)
  sayFindings(findings)
  const statistics = new Map(
    read.flatMap(({ layers }) => layers.map(({ layer, statistics }) => [layer, statistics])),
  )
  const facts = { published: published?.code ?? null, coverages: factsOf(release, extents, statistics) }
  const told = { dryRun: true, ...facts, findings }
  const text = await reportOf(database.writer, release, extents, statistics, published)
  const refusing = refusingChecks(findings).join()
  if (refusing === '') return print(output, told, text)
  const sentence = `Refused by ${refusing}. Use --allow ${refusing} to publish.`
  refuse(output, told, new OperatorError(sentence, { code: 'CHECKS' }), text)
}

async function load(
  database: Database,
  release: ReleaseSource,
  { before, after }: Inspection,
  leniency: Leniency,
  options: IngestOptions,
): Promise<void> {
  const { force, maxChange, publishAt } = options
  const known = force ? undefined : await findLoaded(database.writer, release.description)
  const said = known ? [] : before
  sayFindings(said)
  const refusingBefore = refusingChecks(said)
  if (isToPublish(options) && refusingBefore.length > 0) {
    refuse(
      options,
      { release: null, loaded: false, published: false, findings: before },
      new OperatorError(`Nothing is loaded. Mend it, or have it with --allow ${refusingBefore.join()}.`, {
        code: 'CHECKS',
      }),
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
      tell,
      clearing: (code: string) => progressIfLong(`deleting what is left of ${code}`),
    }
    const ingestion = await ingestRelease(database, release, loading)
    if (publishAt) return scheduleIngested(database, ingestion, leniency, publishAt)
    return isLimited ? publishLimited(database, ingestion, leniency, maxChange, signal) : ingestion
  })
  const { code, published, scheduled, findings, sentence } = done
  sayFindings(findings.filter((finding) => !isAmong(said, finding)))
  const seconds = (Date.now() - started) / 1000
  const [told, text] = [toldOf(done, seconds), sentenceOf(done, seconds)]
  if (isToPublish(options) && !published && !scheduled) {
    refuse(
      options,
      told,
      sentence ? new OperatorError(sentence, { code: 'CHECKS' }) : notPublished(code, findings),
      text,
    )
  }
  print(options, told, text)
}

/** An ingestion that may have ended by what changes too much, or waits for its time. */
type Done = Ingestion & { change?: ExcessiveChange; sentence?: string; scheduled?: Date }

/** Has what is loaded now or was before published at a time. */
async function scheduleIngested(
  { writer }: Database,
  ingestion: Ingestion,
  leniency: Leniency,
  publishAt: Date,
): Promise<Done> {
  const { code, publishedBefore } = ingestion
  if (publishedBefore || refusingChecks(ingestion.findings).length > 0) return ingestion
  const found = await inTransaction(writer, (trx) => scheduleChecked(trx, code, publishAt, leniency))
  const others = found.filter((finding) => !isAmong(ingestion.findings, finding))
  const findings = [...ingestion.findings, ...others]
  return refusingChecks(found).length > 0
    ? { ...ingestion, findings }
    : { ...ingestion, findings, scheduled: publishAt }
}

/** Publishes what is loaded now or was before, unless it changes too much. */
async function publishLimited(
  database: Database,
  ingestion: Ingestion,
  leniency: Leniency,
  maxChange: number,
  signal: AbortSignal,
): Promise<Done> {
  const { code, publishedBefore, findings } = ingestion
  if (publishedBefore || refusingChecks(findings).length > 0) return ingestion
  const done = await publishWithin(database, code, leniency, maxChange, signal)
  const others = done.findings.filter((finding) => !isAmong(findings, finding))
  return { ...ingestion, ...done, findings: [...findings, ...others] }
}

function isAmong(findings: readonly Finding[], { sentence }: Finding): boolean {
  return findings.some((other) => other.sentence === sentence)
}

function toldOf(ingestion: Done, seconds: number): object {
  const { code, loaded, published, publishedBefore, scheduled, replaced = null, ...rest } = ingestion
  const { tiles, findings, change } = rest
  const done = { release: code, loaded, published, scheduled }
  if (loaded) return { ...done, replaced, tiles, seconds, findings, change }
  return publishedBefore ? done : { ...done, replaced, findings, change }
}

function sentenceOf(
  { code, loaded, published, publishedBefore, scheduled, replaced, tiles }: Done,
  seconds: number,
): string {
  const place = replaced ? ` in the place of ${replaced}` : ''
  const wait = scheduled && `to be published at ${timeText(scheduled)} UTC`
  if (loaded) {
    const state = published ? `is published${place}` : `is complete and ${wait ?? 'not published'}`
    return `${code} ${state}: ${tiles} tiles in ${seconds.toFixed(1)} s.`
  }
  if (published && !publishedBefore) return `${code}, which has the same data, is published${place}.`
  if (wait) return `${code}, which has the same data, is ${wait}.`
  const state = published ? 'published as' : 'loaded, and not published, as'
  return `The same data are ${state} ${code}: nothing to do (--force loads them again).`
}
