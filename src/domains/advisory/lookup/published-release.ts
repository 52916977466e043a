import type { ProductDefinition } from '#src/products/define.ts'
import { itemWriter, type ReleaseWriter } from './item-writer.ts'
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

  return (release, product) => ({
    ...release,
    writer: itemWriter(product, release),
    coverages: release.coverages.map(numbered),
    layers: release.layers.map((layer) => ({
      ...layer,
      coverage: release.coverages.findIndex(({ id }) => id === layer.coverageId),
    })),
  })
}
