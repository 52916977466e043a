import { Command } from 'commander'
import type { Database } from '#src/database/client.ts'
import { findPublished } from '#src/domains/releases/queries.ts'
import { OperatorError } from '#src/errors.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { examineRelease, extentOrRefuse, loadRelease } from '#src/ingest/load.ts'
import { type Manifest, readManifest } from '#src/ingest/manifest.ts'
import { refuseUnknownSeries } from '#src/ingest/queries.ts'
import { withDatabase } from './database.ts'
import { progressLine } from './progress.ts'
import { reportOf } from './report.ts'

interface IngestOptions {
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
  .action(async (path: string, options: IngestOptions) => {
    // A manifest can be wrong without a database: say so before one is opened.
    const manifest = await readManifest(path)
    await withDatabase((database) => ingest(database, manifest, options))
  })

async function ingest(database: Database, manifest: Manifest, options: IngestOptions): Promise<void> {
  await refuseUnknownSeries(database.writer, manifest)
  const release = await openGeoTiffs(database.writer, manifest)
  try {
    for (const note of release.notes) console.log(`note: ${note}`)
    const published = await findPublished(database.writer, release.description)
    if (options.dryRun) {
      const extents = await Promise.all(
        release.coverages.map((coverage) => extentOrRefuse(database, coverage)),
      )
      const statistics = await examineRelease(release, progressLine('reading'))
      console.log(await reportOf(database.writer, release, extents, statistics, published))
      return
    }
    if (published && published.checksum === release.description.checksum && !options.force) {
      console.log(
        `The same data are published as ${published.code}: nothing to do (--force loads them again).`,
      )
      return
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
    const started = Date.now()
    const loaded = await loadRelease(database, release, {
      publish: options.publish,
      progress: progressLine('loading'),
    })
    for (const warning of loaded.warnings) console.log(`warning: ${warning}`)
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    const state = options.publish
      ? `is published${loaded.replaced ? ` in the place of ${loaded.replaced}` : ''}`
      : 'is complete and not published'
    console.log(`${loaded.code} ${state}: ${loaded.tiles} tiles in ${seconds} s.`)
  } finally {
    await release.close()
  }
}
