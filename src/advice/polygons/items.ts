import type { ErrorBody } from '#schemas/common.ts'
import type { Dhis2Mapping } from '#schemas/dhis2.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { type CsvValue, csvCell, csvCells, csvRow, type Items } from '#src/http/formats.ts'
import { idMember, writeBehind } from '#src/lookup/answer-text.ts'
import { makeOutlookMembers } from '#src/lookup/entries.ts'
import { makeSharedMembers, type SourceRelease } from '#src/lookup/places.ts'
import type { PublishedRelease, ReleaseMembers } from '#src/lookup/releases.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import { joinColumns, sideBySide, writeFeature } from '../columns.ts'
import {
  type Advice,
  computeRegionQuantities,
  describeRegion,
  makeRegionData,
  writeRegionEntries,
} from '../polygon/answer.ts'
import {
  type ChosenStatistics,
  figuresOfRegion,
  listStatisticKeys,
  regionColumns,
} from '../polygon/figures.ts'
import { quantityColumns } from '../quantities/columns.ts'
import type { QuantityRules } from '../quantities/compute.ts'

/** The answer for one of many polygons. */
export interface PolygonItem {
  id: string | number | undefined
  name: string | undefined
  members: ReleaseMembers
  /** The shape as GeoJSON, where the format has shapes. */
  geometry: string | null
  /** Null for an invalid polygon, and after a timeout. */
  advice: Advice | null
  reason: ErrorBody | null
}

interface PolygonAnswers {
  product: ProductDefinition
  sources: readonly SourceRelease[]
  /** The first release of the sources. */
  release: PublishedRelease
  distribution: DistributionOptions | null
  rules: QuantityRules | null
  /** As the call asks for. */
  condition: string | undefined
  /** Members of the whole answer beside those of the sources. */
  members: object
  mapping: Dhis2Mapping | undefined
}

/** The items of a call in all shapes, and the parts that data value sets need. */
export interface PolygonItems extends Items<PolygonItem> {
  product: ProductDefinition
  release: PublishedRelease
  keys: string[]
  mapping: Dhis2Mapping | undefined
}

/** Remembers the texts of members, which all items of a source share. */
function createMemory(write: (members: ReleaseMembers) => string) {
  const texts = new WeakMap<ReleaseMembers, string>()
  return (members: ReleaseMembers): string => {
    const text = texts.get(members) ?? write(members)
    texts.set(members, text)
    return text
  }
}

export function createPolygonItems(answers: PolygonAnswers): PolygonItems {
  const { product, sources, release, mapping, rules } = answers
  const keys = listStatisticKeys(product, answers.distribution)
  const memberNames = [...new Set(sources.flatMap(({ members }) => Object.keys(members)))]
  const figures = joinColumns<ChosenStatistics>(sources, (release) => {
    const columns = regionColumns(product, release, keys, answers.condition)
    if (!rules) return columns
    const { names, cellsOf } = quantityColumns(rules, product, release)
    const cellsIn = (found: ChosenStatistics) =>
      cellsOf(computeRegionQuantities(rules, product, release, found))
    return sideBySide(columns, { names, cellsOf: cellsIn })
  })
  const labels = ['id', 'name', 'lat', 'lng', 'area_ha', ...memberNames]
  const memberText = createMemory(writeBehind)
  const noMembers = ','.repeat(memberNames.length)
  const memberCells = createMemory((members: ReleaseMembers) => {
    const cells = memberNames.map((name) => (members as Record<string, CsvValue | undefined>)[name] ?? null)
    return cells.map((cell) => `,${csvCell(cell)}`).join('')
  })

  /** Where an item is, and what its figures are of. */
  function describe({ name, members, advice }: PolygonItem): Record<string, CsvValue | undefined> {
    const { type: _, admin: __, ...location } = advice ? describeRegion(name, advice) : { name }
    return { ...location, ...(advice && members) }
  }

  function writeOutlook({ release, statistics }: Advice): string {
    if (!release.certainty) return ''
    return writeBehind(makeOutlookMembers(product, release, figuresOfRegion(release, statistics)))
  }

  const figuresIn = ({ advice, reason }: PolygonItem) => (reason ? null : (advice?.statistics ?? null))

  return {
    product,
    release,
    keys,
    mapping,
    members: { ...makeSharedMembers(sources), ...answers.members },
    columns: [...labels, ...figures.names, 'error', 'code'],
    object: ({ id, name, members, advice, reason }) => {
      if (advice && !reason && !rules) {
        const { release, statistics } = advice
        const start = `{${idMember(id)}"location":${JSON.stringify(describeRegion(name, advice))}`
        const entries = writeRegionEntries(product, release, statistics)
        return `${start}${memberText(members)},"${product.entries}":${entries}${writeOutlook(advice)}}`
      }
      return JSON.stringify({
        id,
        ...(advice
          ? {
              location: describeRegion(name, advice),
              ...members,
              ...(reason ? { [product.entries]: null } : makeRegionData(product, advice, rules)),
            }
          : name !== undefined && { sent: { name } }),
        ...reason,
      })
    },
    feature(item) {
      const { id, geometry, advice, reason } = item
      return writeFeature(id, (advice && geometry) ?? 'null', {
        ...describe(item),
        ...(advice && figures.readCells(advice.release, figuresIn(item))),
        ...(reason && { error: reason.error, code: reason.code }),
      })
    },
    // An object of all columns took most of the time of many small fields.
    rows(item) {
      const { id = null, name = null, members, advice, reason } = item
      const region = advice && describeRegion(item.name, advice)
      const { lat = null, lng = null, area_ha = null } = region ?? {}
      const place = csvCells([id, region?.name ?? name, lat, lng, area_ha])
      const ofMembers = advice ? memberCells(members) : noMembers
      const row = csvRow([
        ...figures.listCells(advice?.release, figuresIn(item)),
        reason?.error ?? null,
        reason?.code ?? null,
      ])
      return `${place}${ofMembers},${row}`
    },
  }
}
