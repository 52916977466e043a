import type { Products } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { CheckName, ReleaseIssue } from '#src/catalog/release-checks.ts'
import { requireRelease } from '#src/catalog/release-queries.ts'
import type { Db } from '#src/data/tables.ts'
import type { LevelExtent } from '#src/raster/grid.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { ReleaseSource } from '../source.ts'
import type { CoverageStatistics } from '../statistics.ts'
import { LABEL_CHECKS } from './labels.ts'
import { findSurroundings, listCoverageFacts, partWithValues } from './queries.ts'
import { RANGE_CHECKS } from './ranges.ts'
import { CHECKS, type CoverageFacts, type ReleaseFacts, type Surroundings } from './rules.ts'

export interface Leniency {
  allow: readonly CheckName[]
  strict?: boolean
}

function judged(findings: readonly Omit<ReleaseIssue, 'allowed'>[], { allow, strict = false }: Leniency) {
  return findings.map((finding) => {
    const level = strict ? 'error' : finding.level
    return { ...finding, level, allowed: level === 'error' && allow.includes(finding.check) }
  })
}

export function refusingChecks(findings: readonly ReleaseIssue[]): CheckName[] {
  return [...new Set(findings.filter(refuses).map(({ check }) => check))].sort()
}

export function refusalText(findings: readonly ReleaseIssue[]): string {
  return findings
    .filter(refuses)
    .map(({ check, sentence }) => `${check}: ${sentence}`)
    .join(' ')
}

function refuses({ level, allowed }: ReleaseIssue): boolean {
  return level === 'error' && !allowed
}

export function allowedChecks(findings: readonly ReleaseIssue[]): CheckName[] {
  return [...new Set(findings.filter(({ allowed }) => allowed).map(({ check }) => check))].sort()
}

/** Depends on time, on other publications and on operators: it may change after the load. */
const REPEATED: readonly CheckName[] = ['extent', 'month', 'names', 'range']

export interface ReleaseInspection {
  readonly before: ReleaseIssue[]
  after(read: CoverageStatistics[]): Promise<ReleaseIssue[]>
}

type FileRelease = ReleaseSource & { notes: string[]; notHonoured: string[] }

/** A mistake beside the pixels costs a second, not a load. */
export async function inspect(
  db: Db,
  release: FileRelease,
  extents: LevelExtent[],
  leniency: Leniency,
  products: Products = PRODUCTS,
): Promise<ReleaseInspection> {
  const { description: series, coverages, notes, notHonoured } = release
  const surroundings = await findSurroundings(db, series, products)
  const facts = coverages.map(({ grid, layers }, index): CoverageFacts => {
    return { grid, extent: extents[index] as LevelExtent, pixels: grid.width * grid.height, layers }
  })
  const find = (more: Pick<ReleaseFacts, 'coverages' | 'alikeInputs'>) =>
    judged(run({ series, notes, notHonoured, ...more }, surroundings), leniency)
  return {
    before: find({ coverages: facts }),
    async after(read) {
      const measured: CoverageFacts[] = []
      for (const [index, { grid }] of coverages.entries()) {
        const { presence, layers } = read[index] as CoverageStatistics
        const { extent, pixels } = facts[index] as CoverageFacts
        const spread = await partWithValues(db, surroundings.country, {
          grid,
          extent,
          tileSize: TILE_SIZE,
          countBlocks: (level, blocks) =>
            blocks.filter(({ row, column }) => presence.has(level, row, column)).length,
        })
        const ofLayers = layers
          .filter(({ layer }) => !layer.made)
          .map(({ layer, statistics, values, frame, filled }) => {
            return { ...layer, statistics, raw: { pixelType: layer.pixelType, values, frame, filled } }
          })
        measured.push({ grid, extent, pixels, spread, layers: ofLayers })
      }
      // Layers on other grids would differ.
      const isOnOneGrid = (input: string | null) =>
        measured.filter(({ layers }) =>
          layers.some((layer) => layer.input === input && layer.role === undefined),
        ).length === 1
      const alikeInputs = read.flatMap(({ alikeInputs }) => alikeInputs).filter(isOnOneGrid)
      return find({ coverages: measured, alikeInputs })
    },
  }
}

/**
 * Findings about pixels stay, with their permissions.
 *
 * @param returns a rollback: its month is no surprise
 */
export async function inspectAgain(
  db: Db,
  code: string,
  { allow, strict }: Leniency,
  { returns = false, products = PRODUCTS }: { returns?: boolean; products?: Products } = {},
): Promise<ReleaseIssue[]> {
  const release = await requireRelease(db, code)
  const before = release.findings ?? []
  const surroundings = await findSurroundings(db, release, products)
  const facts = { series: release, coverages: await listCoverageFacts(db, release.id, surroundings.country) }
  const found = run(facts, returns ? { ...surroundings, newestMonth: null } : surroundings)
  const isRepeated = ({ check }: { check: CheckName }) => REPEATED.includes(check)
  const stored = before.filter((finding) => !isRepeated(finding))
  const allowed = before.filter((finding) => finding.allowed).map(({ check }) => check)
  return judged([...stored, ...found.filter(isRepeated)], { allow: [...allow, ...allowed], strict })
}

function run(facts: ReleaseFacts, surroundings: Surroundings) {
  return [...CHECKS, ...LABEL_CHECKS, ...RANGE_CHECKS].flatMap((check) => check(facts, surroundings))
}
