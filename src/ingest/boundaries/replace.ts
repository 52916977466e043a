import { sql, type Transaction } from 'kysely'
import type { Database } from '#src/database/client.ts'
import type { Tables } from '#src/database/tables.ts'
import { OperatorError } from '#src/errors.ts'
import type { CountryPlace } from './place.ts'
import {
  analyzeBoundaries,
  type BoundarySet,
  deleteApproximateBelow,
  lockBoundaries,
  type Replacement,
  relinkChildren,
  replaceLevel,
} from './queries.ts'
import {
  dropStaged,
  duplicateCodes,
  type Finding,
  levelWithTheSameAreas,
  linkByCode,
  linkByOverlap,
  nameStaged,
  repairStaged,
  type StagedArea,
  stageAreas,
} from './staging.ts'

export interface ReplaceOptions {
  country: CountryPlace
  /** Refuses areas that something would have to be done about. */
  strict: boolean
  /** Does everything and then undoes it. */
  dryRun: boolean
  /** What is dropped while the areas are read. */
  dropped: Finding[]
}

/** What a load has done, or would do. */
export interface LoadReport extends Replacement {
  repaired: Finding[]
  dropped: Finding[]
  /** Areas whose parent was found by overlap. */
  reparented: Finding[]
  /** How many areas had no name and got their code for one. */
  unnamed: number
  /** Areas of the level below whose parent is gone. */
  relinked: Finding[]
  /** Levels below that held approximate areas, which are deleted. */
  approximateDeleted: number[]
}

/**
 * Puts areas, wherever they come from, in the place of a level: in one transaction, all or none.
 *
 * @throws {OperatorError} says in one sentence what is wrong with the areas
 */
export async function replaceBoundaries(
  database: Database,
  set: BoundarySet,
  areas: AsyncIterable<StagedArea>,
  { country, strict, dryRun, dropped }: ReplaceOptions,
): Promise<LoadReport> {
  const { level } = set
  return database.writer.transaction().execute(async (trx) => {
    await sql`savepoint before_loading`.execute(trx)
    const staged = await stageAreas(trx, areas)
    const repaired = await repairStaged(trx)
    if (strict) refuseFindings('not valid', repaired)
    dropped.push(...(await dropStaged(trx)))
    if (strict) refuseFindings('not usable', dropped)
    refuseMostlyDropped(staged, dropped)
    const unnamed = await nameStaged(trx)
    await refuseMistakenAreas(trx, country, level)

    await lockBoundaries(trx)
    const reparented = await linkParents(trx, country, level)
    if (strict) refuseFindings('not linked to a parent by code', reparented)
    const approximateDeleted = set.approximate ? [] : await deleteApproximateBelow(trx, country.code, level)
    const replacement = await replaceLevel(trx, set)
    const relinked = (await relinkChildren(trx, country.code, level)).map(({ area, parent }) => ({
      area,
      reason: parent === null ? 'no area of the new level contains it' : `it is in ${parent} now`,
    }))
    if (strict) refuseFindings(`of level ${level + 1} and would lose their parent`, relinked)
    await analyzeBoundaries(trx)
    if (dryRun) await sql`rollback to savepoint before_loading`.execute(trx)
    return { ...replacement, repaired, dropped, reparented, unnamed, relinked, approximateDeleted }
  })
}

/** Findings named in a sentence; the others are counted. */
const NAMED_FINDINGS = 3

function refuseFindings(what: string, findings: Finding[]): void {
  if (findings.length === 0) return
  const named = findings.slice(0, NAMED_FINDINGS).map(({ area, reason }) => `${area}: ${reason}`)
  const more = findings.length > NAMED_FINDINGS ? ', ...' : ''
  throw new OperatorError(
    `${findings.length} areas are ${what} (${named.join('; ')}${more}), which --strict does not let pass.`,
  )
}

/** A few features without a code or a polygon are left over from drawing; many are a misunderstanding. */
const MOSTLY = 0.5

function refuseMostlyDropped(staged: number, dropped: Finding[]): void {
  const [first] = dropped
  if (!first || dropped.length <= MOSTLY * Math.max(staged, dropped.length)) return
  throw new OperatorError(
    `${dropped.length} features are not areas that can be loaded: ${first.area}, because ${first.reason}, and so on.`,
  )
}

/** Codes named in a sentence. */
const NAMED_CODES = 5

async function refuseMistakenAreas(
  trx: Transaction<Tables>,
  country: CountryPlace,
  level: number,
): Promise<void> {
  const { count, codes: duplicates } = await duplicateCodes(trx)
  if (level === 0 && count !== 1) {
    throw new OperatorError(`Level 0 is one area, the country; there are ${count}.`)
  }
  if (duplicates.length > 0) {
    const more = duplicates.length > NAMED_CODES ? ', ...' : ''
    throw new OperatorError(
      `${duplicates.length} codes come more than once: ${duplicates.slice(0, NAMED_CODES).join(', ')}${more}.`,
    )
  }
  const other = await levelWithTheSameAreas(trx, country.code, level)
  if (other !== undefined) {
    throw new OperatorError(
      `These areas are already loaded as level ${other} of ${country.name}: they are not of level ${level}.`,
    )
  }
}

/** Parents' codes that are not found may be so many: an area or two were split or renamed. */
const UNKNOWN_PARENTS = 0.5

async function linkParents(
  trx: Transaction<Tables>,
  country: CountryPlace,
  level: number,
): Promise<Finding[]> {
  if (level === 0) return []
  const { total, unlinked } = await linkByCode(trx, country.code, level)
  // Level 0 may be missing: a country needs no outline to have regions.
  if (level === 1) return []
  const unknown = [...new Set(unlinked.flatMap(({ parentCode }) => parentCode ?? []))]
  const above = `level ${level - 1} of ${country.name}`
  if (unlinked.filter(({ parentCode }) => parentCode !== null).length > UNKNOWN_PARENTS * total) {
    const named = unknown.slice(0, NAMED_CODES).join(', ')
    throw new OperatorError(
      `${above[0]?.toUpperCase()}${above.slice(1)} has no areas with the parents' codes ${named}${unknown.length > NAMED_CODES ? ', ...' : ''}: is it from the same source, and are these areas of level ${level}?`,
    )
  }
  const parents = await linkByOverlap(trx, country.code, level)
  return unlinked.map(({ area, parentCode }) => {
    const parent = parents.get(area)
    if (parent === undefined) throw new OperatorError(`${area} lies in none of the areas of ${above}.`)
    const why = parentCode === null ? 'it names no parent' : `its parent ${parentCode} is not there`
    return { area, reason: `${why}; it lies mostly in ${parent}` }
  })
}
