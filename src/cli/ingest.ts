import { Command } from 'commander'
import type { Database } from '#src/database/client.ts'
import { findPublished, type ReleaseRow } from '#src/domains/releases/queries.ts'
import { OperatorError } from '#src/errors.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { examineRelease, extentOrRefuse, loadRelease } from '#src/ingest/load.ts'
import { type Manifest, readManifest } from '#src/ingest/manifest.ts'
import { refuseUnknownSeries } from '#src/ingest/queries.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import { suspicionOf } from '#src/ingest/statistics.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, say, withExamples } from './output.ts'
import { progressLine } from './progress.ts'
import { factsOf, reportOf } from './report.ts'

interface IngestOptions extends Output {
  dryRun?: boolean
  publish: boolean
  force?: boolean
}

export const ingestCommand = new Command('ingest')
  .description('Load the GeoTIFFs of a manifest as a release and publish it.')
  .argument('<manifest>', 'a YAML file; docs/manifest.md describes it')
  .option('--dry-run', 'report what would be loaded and how it differs, and write nothing')
  .option('--no-publish', 'load it complete, but leave the publishing to `agro releases publish`')
  .option(
    '--force',
    'load it even though the same data are published, or real ones that it would replace by synthetic',
  )
  .option(...JSON_OPTION)
  .action(async (path: string, options: IngestOptions) => {
    // A manifest can be wrong without a database: say so before one is opened.
    const manifest = await readManifest(path)
    const open = options.dryRun ? lookInDatabase : withDatabase
    await open((database) => ingest(database, manifest, options))
  })
withExamples(
  ingestCommand,
  'agro ingest wheat-2026-08.yaml --dry-run',
  'agro ingest wheat-2026-08.yaml',
  'agro ingest wheat-2026-08.yaml --no-publish',
)

async function ingest(database: Database, manifest: Manifest, options: IngestOptions): Promise<void> {
  await refuseUnknownSeries(database.writer, manifest)
  const release = await openGeoTiffs(database.writer, manifest)
  try {
    for (const note of release.notes) say('note', note)
    const published = await findPublished(database.writer, release.description)
    if (options.dryRun) return await examine(database, release, published, options)
    if (published && published.checksum === release.description.checksum && !options.force) {
      const { code } = published
      const text = `The same data are published as ${code}: nothing to do (--force loads them again).`
      return print(options, { release: code, loaded: false, published: true }, text)
    }
    if (
      release.description.synthetic &&
      published?.synthetic === false &&
      options.publish &&
      !options.force
    ) {
      throw new OperatorError(
        `${published.code} is published, and these values are synthetic: --no-publish loads them beside it, --force puts them in its place.`,
      )
    }
    await load(database, release, options)
  } finally {
    await release.close()
  }
}

async function examine(
  database: Database,
  release: ReleaseSource,
  published: ReleaseRow | undefined,
  output: Output,
): Promise<void> {
  const extents = await Promise.all(release.coverages.map((coverage) => extentOrRefuse(database, coverage)))
  const statistics = await examineRelease(release, progressLine('reading'))
  for (const [layer, found] of statistics) {
    const suspicion = suspicionOf(layer.origin, found)
    if (suspicion) say('warning', suspicion)
  }
  print(
    output,
    { dryRun: true, published: published?.code ?? null, coverages: factsOf(release, extents, statistics) },
    await reportOf(database.writer, release, extents, statistics, published),
  )
}

async function load(
  database: Database,
  release: ReleaseSource,
  { publish, ...output }: IngestOptions,
): Promise<void> {
  const started = Date.now()
  const progress = progressLine('loading')
  const { code, tiles, replaced, warnings } = await loadRelease(database, release, { publish, progress })
  for (const warning of warnings) say('warning', warning)
  const seconds = (Date.now() - started) / 1000
  const state = publish
    ? `is published${replaced ? ` in the place of ${replaced}` : ''}`
    : 'is complete and not published'
  print(
    output,
    { release: code, loaded: true, published: publish, replaced: replaced ?? null, tiles, seconds },
    `${code} ${state}: ${tiles} tiles in ${seconds.toFixed(1)} s.`,
  )
}
