import type { ProductDefinition } from '#src/products/define.ts'
import { isStale } from '#src/products/season.ts'
import { itemWriter, type ReleaseWriter } from './item-writer.ts'
import { releaseMembers } from './products.ts'
import type { Coverage, Release } from './queries.ts'
import type { PlacedLayer } from './values.ts'

/** A coverage with what the tiles of it are numbered from: no two tiles of a process have one number. */
export interface NumberedCoverage extends Coverage {
  tileColumns: number
  firstTile: number
}

/** A release as it answers: all that an answer takes but the pixels. */
export interface PublishedRelease extends Release {
  /** Writes its answers to points. */
  writer: ReleaseWriter
  coverages: NumberedCoverage[]
  layers: PlacedLayer[]
  /** Whether it is none of those that are published: its pixels are read and kept apart from theirs. */
  archived?: true
}

/** Makes what turns releases into such that answer. It numbers their tiles, each once. */
export function createNumbering(): (release: Release, product: ProductDefinition) => PublishedRelease {
  let nextTile = 0

  function numbered(coverage: Coverage): NumberedCoverage {
    const tileColumns = Math.ceil(coverage.width / coverage.tileSize)
    const firstTile = nextTile
    nextTile += tileColumns * Math.ceil(coverage.height / coverage.tileSize)
    return { ...coverage, tileColumns, firstTile }
  }

  return (release, product) => {
    const aged = withAge(release)
    return {
      ...aged,
      writer: writerOf(product, aged),
      coverages: release.coverages.map(numbered),
      layers: release.layers.map((layer) => ({
        ...layer,
        coverage: release.coverages.findIndex(({ id }) => id === layer.coverageId),
      })),
    }
  }
}

/**
 * A release with its tiles where they are now: they may have been moved, and are the same.
 *
 * @param inFiles the ids of the releases whose tiles are in files
 */
export function placedIn(release: PublishedRelease, inFiles: number[]): PublishedRelease {
  const store = inFiles.includes(release.id) ? 'files' : 'postgis'
  if (release.coverages.every((coverage) => coverage.store === store)) return release
  return { ...release, coverages: release.coverages.map((coverage) => ({ ...coverage, store })) }
}

/** A release as it answers now: anew where its season has ended since. */
export function renewed(release: PublishedRelease, product: ProductDefinition): PublishedRelease {
  if (isStale(release, Date.now()) === (release.stale ?? false)) return release
  const aged = withAge(release)
  return { ...aged, writer: writerOf(product, aged) }
}

/** A release that never says that its season is over. */
export function withoutAge(release: PublishedRelease, product: ProductDefinition): PublishedRelease {
  const { stale, ...timeless } = release
  return stale ? { ...timeless, writer: writerOf(product, timeless) } : release
}

function writerOf(product: ProductDefinition, release: Release): ReleaseWriter {
  return itemWriter(product, release.layers, releaseMembers(release))
}

function withAge<Aged extends Release>({ stale: _, ...release }: Aged) {
  return { ...release, ...(isStale(release, Date.now()) && { stale: true }) }
}

/** What tells an answer of a release from others of it: the content of a release never changes, but its season ends. */
export function versionOf({ code, stale }: Pick<Release, 'code' | 'stale'>): string {
  return stale ? `${code} stale` : code
}
