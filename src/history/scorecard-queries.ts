import { type Kysely, sql } from 'kysely'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Tables } from '#src/data/tables.ts'

interface Pair {
  predicted: number
  observed: number
}

/** @param pairs one at least */
export function computeScores(pairs: readonly Pair[]) {
  const count = pairs.length
  const differences = pairs.map(({ predicted, observed }) => predicted - observed)
  const meanOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / count
  return {
    count,
    /** Above 0 where too much is predicted. */
    bias: meanOf(differences),
    rmse: Math.sqrt(meanOf(differences.map((difference) => difference ** 2))),
    /** Single large differences change it less (Willmott and Matsuura, 2005). */
    mae: meanOf(differences.map(Math.abs)),
    /** Spearman (1904), equal values with the mean of their ranks; null where all of a side are equal. */
    rank_correlation: rankCorrelation(pairs),
  }
}

/** Twice the rank of each number, from 2: whole numbers also where equal ones share the mean of theirs. */
function doubledRanks(numbers: readonly number[]): number[] {
  const order = numbers
    .map((_, index) => index)
    .sort((a, b) => (numbers[a] as number) - (numbers[b] as number))
  const ranks = new Array<number>(numbers.length)
  for (let first = 0; first < order.length; ) {
    let last = first
    while (
      last + 1 < order.length &&
      numbers[order[last + 1] as number] === numbers[order[first] as number]
    ) {
      last++
    }
    for (let at = first; at <= last; at++) ranks[order[at] as number] = first + last + 2
    first = last + 1
  }
  return ranks
}

/** Sums of whole numbers, which are exact up to 100,000 pairs. */
function rankCorrelation(pairs: readonly Pair[]): number | null {
  // Around their mean, which is that of the numbers from 1 on.
  const center = pairs.length + 1
  const one = doubledRanks(pairs.map(({ predicted }) => predicted)).map((rank) => rank - center)
  const other = doubledRanks(pairs.map(({ observed }) => observed)).map((rank) => rank - center)
  const products = (a: number[], b: number[]) =>
    a.reduce((sum, rank, index) => sum + rank * (b[index] as number), 0)
  const [ofOne, ofOther] = [products(one, one), products(other, other)]
  if (ofOne === 0 || ofOther === 0) return null
  return products(one, other) / Math.sqrt(ofOne) / Math.sqrt(ofOther)
}

/** Groups of fewer accounts are not shown: they would tell of single farmers, and are chance. */
export const SMALLEST_GROUP = 5

export interface District {
  code: string
  name: string
}

export interface Observed {
  pair: Pair
  /** An account; each row of a file counts as one. */
  observer: string
  /** The areas that it lies in, by their levels from 0 on; undefined for none. */
  areas: readonly (District | undefined)[]
}

interface DistrictGroup {
  district: District
  observed: Observed[]
}

export function isLarge(observed: readonly Observed[]): boolean {
  return selectObservers(observed).size >= SMALLEST_GROUP
}

/** Areas that may be shown: no difference of shown groups, also of levels above, is smaller than a group. */
export function shownAt(level: number, all: readonly Observed[]): DistrictGroup[] {
  let parts: (readonly Observed[])[] = [all]
  let shown: DistrictGroup[] = []
  for (let at = 0; at <= level; at++) {
    const wholes = groupsAt(at, all)
    const divided = parts.map((part) => dividePart(part, wholes, at))
    shown = divided.flatMap((part) => part.shown)
    parts = divided.flatMap((part) => [...part.shown.map(({ observed }) => observed), part.rest])
  }
  return shown
}

/** By the codes of the areas. */
export function groupsAt(level: number, all: readonly Observed[]): Map<string, DistrictGroup> {
  const groups = new Map<string, DistrictGroup>()
  for (const one of all) {
    const district = one.areas[level]
    if (!district) continue
    const group = groups.get(district.code)
    if (group) group.observed.push(one)
    else groups.set(district.code, { district, observed: [one] })
  }
  return groups
}

function dividePart(part: readonly Observed[], wholes: ReadonlyMap<string, DistrictGroup>, level: number) {
  const inPart = [...groupsAt(level, part).values()]
  const shown = shownAmong(
    inPart.filter(({ district, observed }) => wholes.get(district.code)?.observed.length === observed.length),
    part,
  )
  const told = new Set(shown.flatMap(({ observed }) => observed))
  return { shown, rest: part.filter((one) => !told.has(one)) }
}

/** The large ones, less those of them, the smallest first, without which the others of a part would be too few. */
function shownAmong(groups: readonly DistrictGroup[], part: readonly Observed[]): DistrictGroup[] {
  const sized = groups.map((group) => ({ group, observers: selectObservers(group.observed) }))
  const shown = sized
    .filter(({ observers }) => observers.size >= SMALLEST_GROUP)
    .sort((a, b) => a.observers.size - b.observers.size)
  const told = new Set(shown.flatMap(({ group }) => group.observed))
  const hidden = selectObservers(part.filter((one) => !told.has(one)))
  while (hidden.size > 0 && hidden.size < SMALLEST_GROUP) {
    const smallest = shown.shift()
    if (smallest === undefined) break
    for (const observer of smallest.observers) hidden.add(observer)
  }
  return shown.map(({ group }) => group)
}

function selectObservers(observed: readonly Observed[]): Set<string> {
  return new Set(observed.map(({ observer }) => observer))
}

export interface Observation {
  lat: number
  lng: number
  observed: number
  /** The account of the feedback; undefined for observations from files. */
  observer?: string
  predictions: { scenario: string | null; predicted: number }[]
}

/** So much feedback is looked at, the newest: more tells no more. */
const MOST = 50_000

export async function listObserved(
  db: Kysely<Tables>,
  release: string,
  { code, entries, value, observed }: Pick<ProductDefinition, 'code' | 'entries' | 'value' | 'observed'>,
): Promise<Observation[]> {
  if (observed === null) return []
  const { rows } = await sql<Observation>`
    select
      (answer -> 'location' ->> 'lat')::float8 as lat,
      (answer -> 'location' ->> 'lng')::float8 as lng,
      observed,
      observer,
      (
        select coalesce(
          json_agg(json_build_object(
            'scenario', entry ->> 'scenario', 'predicted', (entry ->> ${value.key})::float8
          )),
          '[]'
        )
        from json_array_elements(entries) as entry
        where entry ->> ${value.key} is not null
      ) as predictions
    from (
      select
        item.answer,
        feedback.user_id as observer,
        (feedback.observed ->> ${observed.key})::float8 as observed,
        case json_typeof(coalesce(item.answer -> ${code} -> ${entries}, item.answer -> ${entries}))
          when 'array' then coalesce(item.answer -> ${code} -> ${entries}, item.answer -> ${entries})
          else '[]'
        end as entries
      from advisory_feedback as feedback
      join app_user on app_user.id = feedback.user_id
      join advisory_history as item on item.id = feedback.history_id and item.user_id = feedback.user_id
      where feedback.observed ->> ${observed.key} is not null and ${release} = any(item.releases)
      order by feedback.created_at desc
      limit ${MOST}::integer
    ) as told`.execute(db)
  return rows
}

/** The areas of places by level; of several of a level the one of lowest code. */
export async function findAreas(
  db: Kysely<Tables>,
  countryCode: string,
  level: number,
  places: readonly { lat: number; lng: number }[],
): Promise<(District | undefined)[][]> {
  const { rows } = await sql<{ areas: Record<number, District> }>`
    select (
      select coalesce(json_object_agg(level, district), '{}')
      from (
        select distinct on (area.level)
          area.level, json_build_object('code', area.code, 'name', area.name) as district
        from admin_areas_at(place.longitude, place.latitude) as area
        where area.country_code = ${countryCode} and area.level <= ${level}::integer
        order by area.level, area.code
      ) as of_level
    ) as areas
    from unnest(${places.map(({ lng }) => lng)}::float8[], ${places.map(({ lat }) => lat)}::float8[])
      with ordinality as place (longitude, latitude, ordinal)
    order by ordinal`.execute(db)
  return rows.map(({ areas }) => Array.from({ length: level + 1 }, (_, at) => areas[at]))
}
