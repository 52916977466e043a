import type { ErrorBody } from '#schemas/common.ts'
import { ApiError, BASE, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { findCaller } from '#src/http/caller.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { unauthorized } from '#src/http/plugins/authentication.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { sharedWork } from '#src/lib/limiter.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { FoundAreas, NamedArea } from './gazetteer.ts'
import {
  isLikePosition,
  POSITION_RULE,
  readCoordinates,
  readGridCode,
  type WrittenPosition,
} from './spellings.ts'

/** What a text names: a position, a saved field of the caller, or an area. */
export type Place =
  | { kind: 'position'; lat: number; lng: number }
  | { kind: 'field'; name: string; polygons: Rings[] }
  | { kind: 'area'; area: NamedArea }

/**
 * Reads coordinates or an Open Location Code; undefined for another text.
 *
 * @param field names it in errors
 * @throws {ApiError} INVALID_PARAMETERS for coordinates beyond the earth
 */
export function readPosition(text: string, field: string): WrittenPosition | undefined {
  return readCoordinates(text, field) ?? readGridCode(text)
}

/** Null where none was sent. @throws {ApiError} INVALID_PARAMETERS for an unknown country */
export function normalizeCountry(snapshot: Snapshot, code: string | undefined): string | null {
  if (code === undefined) return null
  const normal = code.trim().toLowerCase()
  const codes = listCodes(snapshot)
  if (!codes.includes(normal)) throw unknownCountry('country_code', codes)
  return normal
}

interface AreaOptions {
  country_code?: string | undefined
  level?: number | null | undefined
}

export type Places = ReturnType<typeof createPlaces>

/** Makes the functions that find places as people say them. */
export function createPlaces(app: App, lookup: Lookup) {
  const pause = () => app.slices.next(sharedWork('area names'))

  async function readNames(exchange: Exchange) {
    const snapshot = lookup.known() ?? (await exchange.wait(lookup.current))
    const load = () => app.areaNames.load(snapshot, pause)
    const names = app.areaNames.fromMemory(snapshot) ?? (await exchange.wait(load))
    return { snapshot, names }
  }

  /** The areas that a name or code may mean. @throws {ApiError} INVALID_PARAMETERS for an unknown country */
  async function searchAreas(
    name: string,
    { country_code, level = null }: AreaOptions,
    exchange: Exchange,
  ): Promise<FoundAreas> {
    const { snapshot, names } = await readNames(exchange)
    const filter = { countryCode: normalizeCountry(snapshot, country_code), level }
    // Among many areas, a typing error takes more than a millisecond.
    await exchange.nextSlice(createClientSignal(exchange.reply))
    return names.search(name, filter)
  }

  /** The field of a text that may name one, or why there is none; undefined for a text that names none. */
  async function findField(text: string, exchange: Exchange): Promise<Place | ApiError | undefined> {
    const source = app.placeSources.find(({ one }) => one.isLike(text))
    if (!source) return undefined
    const { request } = exchange
    if (findCaller(request) === null) return request.callerError ?? unauthorized(request)
    try {
      const { id, name, polygons } = await source.one.find(exchange, text)
      return { kind: 'field', name: name ?? id, polygons }
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return error
      throw error
    }
  }

  return {
    searchAreas,
    /** The name of a large area of a country, for examples; undefined without boundaries. */
    findExample: async (countryCode: string, exchange: Exchange): Promise<string | undefined> =>
      (await readNames(exchange)).names.exampleIn(countryCode),
    /**
     * Finds the place of a text. Names and codes of areas may have slashes: a saved field is first where there is one.
     *
     * @param field names the text in errors
     * @throws {ApiError} UNKNOWN_AREA ({@link UnknownPlace}) for a name that several areas have, or that is only near to
     *   one; INVALID_PARAMETERS; UNAUTHORIZED, NOT_FOUND or INSUFFICIENT_SCOPE for what may be a field
     */
    async findPlace(text: string, options: AreaOptions, exchange: Exchange, field = 'place'): Promise<Place> {
      const position = readPosition(text, field)
      if (position) return { kind: 'position', ...position }
      const plain = text.trim()
      const saved = await findField(plain, exchange)
      if (saved && !(saved instanceof ApiError)) return saved
      const { meant, areas, similar } = await searchAreas(plain, options, exchange)
      if (meant) return { kind: 'area', area: meant }
      const candidates = withoutNamesakesInside(areas.length > 0 ? areas : similar)
      if (candidates.length === 0 && saved) throw saved
      if (candidates.length === 0 && isLikePosition(plain)) throw unreadPosition(field)
      throw new UnknownPlace(candidates, field)
    },
  }
}

/** A city that is its own district is one answer to a question: the larger one. */
function withoutNamesakesInside(areas: readonly NamedArea[]): NamedArea[] {
  const isInside = (area: NamedArea, { name, level }: NamedArea) =>
    area.name === name && area.level > level && `${area.within}, `.includes(`${name}, `)
  return areas.filter((area) => !areas.some((other) => isInside(area, other)))
}

/** The error for a text that is plainly a position, and is not read. */
export function unreadPosition(field: string): ApiError {
  return ApiError.invalid(field, `is not read as a position: ${POSITION_RULE}`)
}

/** The error where a text means no area, or people must choose one. */
export class UnknownPlace extends ApiError {
  readonly candidates: readonly NamedArea[]

  /** @param field names it in the error */
  constructor(candidates: readonly NamedArea[], field: string) {
    const described = candidates
      .map(({ name, code, level, parent }) => {
        return `${code} is ${name}, level ${level}${parent === null ? '' : `, in ${parent}`}`
      })
      .join('; ')
    const [first, ...others] = candidates
    const sentence = !first
      ? `There is no area with this code or name. A place is a code or name of GET ${BASE}/places, or a position such as 9.5 38.5.`
      : others.length > 0
        ? 'Several areas may be meant: send the code of one.'
        : `There is no area with this code or name: did you mean ${first.name} (${first.code})?`
    super('UNKNOWN_AREA', sentence, [
      {
        field,
        message: `${field} must be the code of one area${described && `: ${described}`}`,
        ...(described && { allowed: candidates.map(({ code }) => code) }),
      },
    ])
    this.candidates = candidates
  }

  override get body(): ErrorBody {
    const meant = this.candidates.map(({ name, code, countryCode, level, within }) => ({
      ...{ name, code, country_code: countryCode, level, within },
    }))
    return { ...super.body, did_you_mean: meant }
  }
}
