import type { Kysely } from 'kysely'
import type { Products } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { requireRelease } from '#src/catalog/release-queries.ts'
import type { CheckName, ReleaseIssue } from '#src/data/rights.ts'
import type { Tables } from '#src/data/tables.ts'
import type { LevelExtent } from '#src/raster/grid.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { ReleaseSource } from '../source.ts'
import type { CoverageStatistics } from '../statistics.ts'
import { findSurroundings, listCoverageFacts, partWithValues } from './queries.ts'
import * as rules from './rules.ts'

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

/** Checks without pixels: a mistake costs a second, not a load. */
const BEFORE_READING: rules.Check<rules.FileFacts>[] = [
  rules.reading,
  rules.notHonoured,
  rules.extent,
  rules.month,
  rules.names,
]

const AFTER_READING: rules.Check<rules.ReadFacts>[] = [
  rules.empty,
  rules.spread,
  rules.undeclaredNodata,
  rules.range,
  rules.scenariosAlike,
]

/** Depends on time, on other publications and on operators: it may change after the load. */
const AT_PUBLICATION: Record<
  Extract<CheckName, 'extent' | 'month' | 'names' | 'range'>,
  rules.Check<rules.ReleaseFacts<rules.MeasuredLayer>>[]
> = { extent: [rules.extent, rules.spread], month: [rules.month], names: [rules.names], range: [rules.range] }

export interface ReleaseInspection {
  readonly before: ReleaseIssue[]
  after(read: CoverageStatistics[]): Promise<ReleaseIssue[]>
}

type FileRelease = ReleaseSource & Pick<rules.FileFacts, 'notes' | 'notHonoured'>

export async function inspect(
  db: Kysely<Tables>,
  release: FileRelease,
  extents: LevelExtent[],
  leniency: Leniency,
  products: Products = PRODUCTS,
): Promise<ReleaseInspection> {
  const { description: series, coverages, notes, notHonoured } = release
  const surroundings = await findSurroundings(db, series, products)
  const facts = coverages.map(({ grid, layers }, index) => ({
    extent: extents[index] as LevelExtent,
    pixels: grid.width * grid.height,
    layers: layers as rules.LayerFacts[],
    spread: null,
  }))
  const files = { series, coverages: facts, notes, notHonoured }
  const before = judged(run(BEFORE_READING, files, surroundings), leniency)
  return {
    before,
    async after(read) {
      const spreads: (number | null)[] = []
      for (const [index, { grid }] of coverages.entries()) {
        const { presence } = read[index] as CoverageStatistics
        spreads.push(
          await partWithValues(db, surroundings.country, {
            grid,
            extent: extents[index] as LevelExtent,
            tileSize: TILE_SIZE,
            countBlocks: (level, blocks) =>
              blocks.filter(({ row, column }) => presence.has(level, row, column)).length,
          }),
        )
      }
      const found = run(AFTER_READING, { series, ...gatherFacts(facts, read, spreads) }, surroundings)
      return [...before, ...judged(found, leniency)]
    },
  }
}

function gatherFacts(
  coverages: rules.CoverageFacts<rules.LayerFacts>[],
  read: CoverageStatistics[],
  spreads: (number | null)[],
): Omit<rules.ReadFacts, 'series'> {
  const measured = coverages.map((coverage, index) => ({
    ...coverage,
    spread: spreads[index] ?? null,
    layers: (read[index]?.layers ?? []).map(({ layer, ...rest }) => ({ ...layer, ...rest })),
  }))
  const of = (input: string | null) => (layer: rules.LayerFacts) => layer.input === input
  return {
    coverages: measured,
    // Layers on other grids would differ.
    alikeInputs: read
      .flatMap(({ alikeInputs }) => alikeInputs)
      .filter((input) => measured.filter(({ layers }) => layers.some(of(input))).length === 1),
  }
}

/**
 * Findings about pixels stay, with their permissions.
 *
 * @param returns a rollback: its month is no surprise
 * @throws {OperatorError} for a missing release
 */
export async function inspectAgain(
  db: Kysely<Tables>,
  code: string,
  { allow, strict }: Leniency,
  { returns = false, products = PRODUCTS }: { returns?: boolean; products?: Products } = {},
): Promise<ReleaseIssue[]> {
  const release = await requireRelease(db, code)
  const before = release.findings ?? []
  const surroundings = await findSurroundings(db, release, products)
  const checks = Object.values(AT_PUBLICATION).flat()
  const facts = { series: release, coverages: await listCoverageFacts(db, release.id, surroundings.country) }
  const found = run(checks, facts, returns ? { ...surroundings, newestMonth: null } : surroundings)
  const stored = before.filter(({ check }) => !(check in AT_PUBLICATION))
  const allowed = before.filter((finding) => finding.allowed).map(({ check }) => check)
  return judged([...stored, ...found], { allow: [...allow, ...allowed], strict })
}

function run<Facts>(checks: rules.Check<Facts>[], facts: Facts, surroundings: rules.Surroundings) {
  return checks.flatMap((check) => check(facts, surroundings))
}
