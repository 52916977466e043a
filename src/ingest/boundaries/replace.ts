import { recordOperation } from '#src/data/audit-queries.ts'
import type { Database } from '#src/data/database.ts'
import type { Trx } from '#src/data/tables.ts'
import { listSome, OperatorError } from '#src/errors.ts'
import { percentText, round } from '#src/lib/round.ts'
import type { Bounds } from '#src/raster/rings.ts'
import { convertAreas } from '../other-formats.ts'
import * as queries from './queries.ts'

/** Areas without a code get one from their name, or are left out. */
export const CODE_RULES = ['from-names', 'skip'] as const
export type CodeRule = (typeof CODE_RULES)[number]

/** A larger share of areas without codes is no leftover of drawing. */
const MOSTLY = 0.5

/**
 * ADDIS-ABABA: capitals without accents. Other scripts stay.
 *
 * @returns null for a name without letters and digits
 */
export function codeOfName(name: string): string | null {
  const plain = name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
  const words = plain.toUpperCase().match(/[\p{Letter}\p{Mark}\p{Number}]+/gu)
  return words?.join('-') ?? null
}

async function settleCodes(trx: Trx, rule: CodeRule | undefined, staged: number) {
  if (rule === 'from-names') return { coded: await queries.giveCodes(trx), dropped: [] }
  if (rule === 'skip') return { coded: [], dropped: await queries.dropShared(trx) }
  const uncoded = await queries.countUncoded(trx)
  if (uncoded > MOSTLY * staged) {
    throw new OperatorError(
      `${uncoded} of the ${staged} features have no code: --code-property names another property, and --codes from-names makes codes from names.`,
    )
  }
  return { coded: [], dropped: [] }
}

function refuseLost(lost: string[], dropped: queries.AreaIssue[]): void {
  if (lost.length === 0) return
  const why = dropped.find(({ area }) => area === lost[0])?.reason
  throw new OperatorError(
    `${listSome(lost)} would have no area any more, since the file has none to load (${lost[0]}: ${why}): mend the file, or let it pass by --allow-lost.`,
  )
}

const NAMED_PAIRS = 5

function noteOverlaps(pairs: Awaited<ReturnType<typeof queries.listOverlaps>>, allowTwins = false): string[] {
  const twins = pairs.filter((pair) => pair.twins).map(({ smaller, larger }) => `${smaller} and ${larger}`)
  if (twins.length > 0 && !allowTwins) {
    throw new OperatorError(
      `Areas have the same geometry: ${listSome(twins)}; mend the file, or let it pass by --allow-twins.`,
    )
  }
  if (pairs.length === 0) return []
  const named = pairs
    .slice(0, NAMED_PAIRS)
    .map(({ smaller, larger, share }) => `${percentText(share)} of ${smaller} lies in ${larger}`)
  const more = pairs.length > NAMED_PAIRS ? `; and ${pairs.length - NAMED_PAIRS} more` : ''
  return [`Areas of one level overlap: ${named.join('; ')}${more}.`]
}

export interface CountryBounds {
  code: string
  name: string
  /** Null for an unknown corner. */
  bounds: Bounds | null
}

/** Degrees. */
const MARGIN = 1

/** A country without bounds accepts any place. */
export function refuseOutsideCountry(
  subject: string,
  file: string,
  bounds: Bounds,
  country: CountryBounds,
  countries: CountryBounds[],
): void {
  const [west, south, east, north] = bounds
  const onEarth = west >= -180 && south >= -90 && east <= 180 && north <= 90
  if (country.bounds === null ? onEarth : within(bounds, country.bounds)) return
  const corner = `${round(west, 4)}, ${round(south, 4)}`
  if (within([south, west, north, east], country.bounds)) {
    throw new OperatorError(
      `${subject} begins at ${corner}, which lies in ${country.name} only with the coordinates swapped: did you mean lng, lat?`,
    )
  }
  if (!onEarth) {
    // Beyond 360 GDAL would drop land.
    const goesRound = west >= -180 && east <= 360 && south >= -90 && north <= 90
    const [fault, crs, note] = goesRound
      ? ['in degrees from 0 to 360, not from -180 to 180', '-wrapdateline -s_srs EPSG:4326', '']
      : ['not in degrees of WGS 84', '-s_srs EPSG:CODE', ', with the CODE of its CRS']
    throw new OperatorError(
      `${subject} begins at ${corner}, ${fault}: convert it with ${convertAreas(file, `${crs} -t_srs EPSG:4326`)}${note}.`,
    )
  }
  const other = countries.find((candidate) => within(bounds, candidate.bounds))
  const guess = other ? ` It seems to be of ${other.name}.` : ''
  throw new OperatorError(
    `${subject} does not lie in ${country.name}: it reaches from ${corner} to ${round(east, 4)}, ${round(north, 4)}.${guess}`,
  )
}

function within([west, south, east, north]: Bounds, outer: Bounds | null): boolean {
  return (
    outer !== null &&
    west >= outer[0] - MARGIN &&
    south >= outer[1] - MARGIN &&
    east <= outer[2] + MARGIN &&
    north <= outer[3] + MARGIN
  )
}

/** Some areas were split, renamed or redrawn; with a larger share the levels do not belong together. */
const TOLERATED = 0.5

/**
 * By parents' codes, else by the largest overlap.
 *
 * @returns the areas not linked by code
 */
async function linkParents(trx: Trx, country: CountryBounds, level: number) {
  if (level === 0) return []
  const { total, unlinked } = await queries.linkByCode(trx, country.code, level)
  // A country needs no outline for its regions.
  if (level === 1) return []
  const above = `level ${level - 1} of ${country.name}`
  const misnamed = unlinked.filter(({ parentCode }) => parentCode !== null)
  if (misnamed.length > TOLERATED * total) {
    const codes = [...new Set(misnamed.map(({ parentCode }) => String(parentCode)))]
    throw new OperatorError(
      `No areas of ${above} have the parents' codes ${listSome(codes)}: are these areas of level ${level}? If they are, --parent-property none links them by overlap.`,
    )
  }
  const linked = await queries.linkByOverlap(trx, 'staged_area', country.code, level - 1)
  const parents = new Map(linked.map(({ area, parent }) => [area, parent]))
  const outside = linked.filter(({ parent }) => parent === null).map(({ area }) => area)
  if (outside.length > TOLERATED * total) {
    throw new OperatorError(
      `${outside.length} of the areas lie in none of the areas of ${above}: ${listSome(outside)}.`,
    )
  }
  return unlinked.map(({ area, parentCode }) => {
    const parent = parents.get(area) ?? null
    const why = parentCode === null ? 'it names no parent' : `its parent ${parentCode} is not there`
    const then = parent === null ? `and it lies in no area of ${above}` : `it lies mostly in ${parent}`
    return { area, reason: `${why}; ${then}` }
  })
}

export interface ReplaceOptions {
  country: CountryBounds
  /** Refuses files that need repairs. */
  strict: boolean
  dryRun: boolean
  /** The largest share by which a repair may change an area. */
  maxRepair?: number | undefined
  codes?: CodeRule | undefined
  /** Lets areas that are there go without one of their code. */
  allowLost?: boolean | undefined
  /** Lets two areas have one geometry. */
  allowTwins?: boolean | undefined
  dropped: queries.AreaIssue[]
  notes: string[]
  stored?: ((part: number) => void) | undefined
}

export type LoadReport = Awaited<ReturnType<typeof replaceBoundaries>>

/** One transaction replaces the areas of a level. */
export async function replaceBoundaries(
  database: Database,
  set: queries.BoundarySet,
  areas: AsyncIterable<queries.StagedArea>,
  options: ReplaceOptions,
) {
  const { level } = set
  const { country, strict, dryRun, codes, allowLost, allowTwins, dropped, notes, stored = () => {} } = options
  return database.writer.transaction().execute(async (trx) => {
    const staged = await queries.stageAreas(trx, areas)
    const repaired = await queries.repairStaged(trx)
    if (strict) refuseFindings('not valid', repaired)
    const { coded, dropped: withoutCode } = await settleCodes(trx, codes, staged)
    dropped.push(...(await queries.dropStaged(trx)))
    if (!allowLost) refuseLost(await queries.listLost(trx, set, dropped), dropped)
    dropped.push(...withoutCode)
    if (strict) refuseFindings('not usable', dropped)
    refuseMostlyDropped(staged, dropped, codes)
    refuseLargeRepairs(repaired, dropped, options.maxRepair ?? MAX_REPAIR)
    const unnamed = await queries.nameStaged(trx)
    await refuseMistakenAreas(trx, country, level)

    await queries.lockBoundaries(trx)
    const reparented = await linkParents(trx, country, level)
    if (strict) refuseFindings('not linked to a parent by its code', reparented)
    const approximateDeleted = set.approximate
      ? []
      : await queries.deleteApproximateBelow(trx, country.code, level)
    const replacement = await queries.replaceLevel(trx, set, stored)
    const children = await queries.linkByOverlap(trx, 'admin_area', country.code, level)
    const relinked = children.map(({ area, parent }) => ({
      area,
      reason: parent === null ? 'no area of the new level contains it' : `it is in ${parent} now`,
    }))
    if (strict) refuseFindings(`of level ${level + 1} and would lose their parent`, relinked)
    await queries.analyzeBoundaries(trx)
    const alike = await queries.listAlikeCodes(trx)
    if (alike.length > 0) notes.push(`Codes of several areas are alike: ${listSome(alike)}.`)
    // Approximate areas are cells of the nearest seat, which cannot overlap.
    const overlaps = set.approximate ? [] : await queries.listOverlaps(trx, set)
    notes.push(...noteOverlaps(overlaps, allowTwins))
    if (strict && notes[0]) throw new OperatorError(`${notes[0]} --strict does not let that pass.`)
    const detail = { country: country.code, level, areas: replacement.added + replacement.updated }
    await recordOperation(trx, { kind: 'boundaries_loaded', detail })
    if (dryRun) await queries.undoTrial(trx)
    return {
      ...replacement,
      notes,
      repaired,
      dropped,
      coded,
      reparented,
      unnamed,
      relinked,
      approximateDeleted,
    }
  })
}

const NAMED_FINDINGS = 3

function someFindings(findings: queries.AreaIssue[]): string {
  const named = findings.slice(0, NAMED_FINDINGS).map(({ area, reason }) => `${area}: ${reason}`)
  return `${named.join('; ')}${findings.length > NAMED_FINDINGS ? ', ...' : ''}`
}

function refuseFindings(what: string, findings: queries.AreaIssue[]): void {
  if (findings.length === 0) return
  const areas = findings.length === 1 ? 'One area is' : `${findings.length} areas are`
  throw new OperatorError(`${areas} ${what} (${someFindings(findings)}): rejected by --strict.`)
}

/** Loops and holes drawn by mistake are small; a larger change needs a look. */
export const MAX_REPAIR = 0.01

function refuseLargeRepairs(repaired: queries.Repair[], dropped: queries.AreaIssue[], most: number): void {
  const gone = new Set(dropped.map(({ area }) => area))
  const large = repaired.filter(({ area, changePercent }) => changePercent > 100 * most && !gone.has(area))
  if (large.length === 0) return
  const [areas, them] = large.length === 1 ? ['one area', 'it'] : [`${large.length} areas`, 'them']
  throw new OperatorError(
    `The repair of ${areas} changes ${them} by more than ${round(100 * most, 6)} % (${someFindings(large)}): mend the file, or let it pass by --max-repair.`,
  )
}

function refuseMostlyDropped(
  staged: number,
  dropped: queries.AreaIssue[],
  codes: CodeRule | undefined,
): void {
  const [first] = dropped
  const tolerated = codes === 'skip' ? Math.max(staged, 1) - 1 : MOSTLY * Math.max(staged, dropped.length)
  if (!first || dropped.length <= tolerated) return
  throw new OperatorError(
    `${dropped.length} of the features are not areas that can be loaded; ${first.area} is not, because ${first.reason}.`,
  )
}

async function refuseMistakenAreas(trx: Trx, country: CountryBounds, level: number) {
  const { count, codes: duplicates } = await queries.duplicateCodes(trx)
  if (level === 0 && count !== 1) {
    throw new OperatorError(`Level 0 is one area, the country; there are ${count}.`)
  }
  if (duplicates.length > 0) {
    const comes = duplicates.length === 1 ? 'One code comes' : `${duplicates.length} codes come`
    throw new OperatorError(
      `${comes} more than once: ${listSome(duplicates)}; --codes from-names makes others, and --codes skip leaves such areas out.`,
    )
  }
  const other = await queries.levelWithTheSameAreas(trx, country.code, level)
  if (other !== undefined) {
    throw new OperatorError(
      `These areas are already loaded as level ${other} of ${country.name}: they are not of level ${level}.`,
      { code: 'ALREADY_THERE' },
    )
  }
}
