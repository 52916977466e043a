import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { unauthorized } from '#src/http/plugins/authentication.ts'
import { createClientSignal, withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { sharedWork } from '#src/lib/limiter.ts'
import { roundDegrees } from '#src/lib/round.ts'
import { chooseArea, type FoundAreas, type NamedArea } from '#src/lookup/gazetteer.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import { requireField } from '../fields/saved.ts'
import { findPointInside } from './queries.ts'
import { readCoordinates, readGridCode, type WrittenPosition } from './spellings.ts'

export interface Place {
  lat: number
  lng: number
  /** Of the area or the field; null for a position. */
  name: string | null
  area: NamedArea | null
}

/** Areas that a text may mean; `isNear` where each differs from it by a typing error. */
interface Candidates {
  candidates: NamedArea[]
  isNear: boolean
}

/** What people name a place by, as its text says. */
type ReadPlace = { position: WrittenPosition } | { field: string } | { name: string }

/** A collection of saved fields, a slash, and the id of a field. */
const FIELD = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}\/\S/

/**
 * Reads what a text says of a place: coordinates, an Open Location Code, a saved field, or else a code or name.
 *
 * @param field names it in errors
 * @throws {ApiError} INVALID_PARAMETERS for coordinates beyond the earth
 */
export function readPlace(text: string, field = 'place'): ReadPlace {
  const position = readCoordinates(text, field) ?? readGridCode(text)
  if (position) return { position }
  const plain = text.trim()
  return FIELD.test(plain) ? { field: plain } : { name: plain }
}

/** Null where none was sent. @throws {ApiError} INVALID_PARAMETERS for an unknown country */
export function normalizeCountry(snapshot: Snapshot, code: string | undefined): string | null {
  if (code === undefined) return null
  const normal = code.trim().toLowerCase()
  const codes = listCodes(snapshot)
  if (!codes.includes(normal)) throw unknownCountry('country_code', codes)
  return normal
}

interface Call {
  request: FastifyRequest
  reply: FastifyReply
}

/** Areas of one name, which differs from a text by one typing error, as those that have it; several names are no choice. */
function asExact(similar: readonly NamedArea[]): NamedArea[] {
  const near = similar.filter(({ slip = 0 }) => slip <= 1)
  const isOneName = near.every(({ name }) => name === near[0]?.name)
  return isOneName ? near.map((area) => ({ ...area, exact: true })) : []
}

interface AreaOptions {
  country_code?: string | undefined
  level?: number | null | undefined
}

export type Places = ReturnType<typeof createPlaces>

/** Makes the functions that find places as people say them. */
export function createPlaces(app: App, lookup: Lookup) {
  const { reader, writer } = app.database
  const pause = () => app.turns.next(sharedWork('area names'))

  async function readNames({ request, reply }: Call) {
    const snapshot = lookup.known() ?? (await withTimeout(request, reply, lookup.current))
    const load = () => lookup.areaNames.load(snapshot, pause)
    const names = lookup.areaNames.fromMemory(snapshot) ?? (await withTimeout(request, reply, load))
    return { snapshot, names }
  }

  /** The areas that a name or code may mean. @throws {ApiError} INVALID_PARAMETERS for an unknown country */
  async function searchAreas(
    name: string,
    { country_code, level = null }: AreaOptions,
    { request, reply }: Call,
  ): Promise<FoundAreas> {
    const { snapshot, names } = await readNames({ request, reply })
    const filter = { countryCode: normalizeCountry(snapshot, country_code), level }
    // Among many areas, a typing error takes more than a millisecond.
    await app.turns.next(clientKeyOf(request), createClientSignal(reply))
    return names.search(name, filter)
  }

  /** The one area that a name or code means, if only with a typing error; or those that it may mean. */
  async function findArea(
    name: string,
    options: AreaOptions,
    call: Call,
  ): Promise<{ area: NamedArea } | Candidates> {
    const { areas, similar } = await searchAreas(name, options, call)
    const area = chooseArea(areas) ?? chooseArea(asExact(similar))
    if (area) return { area }
    return {
      candidates: areas.length > 0 ? areas : similar,
      isNear: areas.length === 0 && similar.length > 0,
    }
  }

  /** Finds a place inside an area. */
  async function findPlaceIn(area: NamedArea, { request, reply }: Call): Promise<Place> {
    const inside = await app.inTurn(request, reply, () => findPointInside(reader, area))
    const { longitude: lng, latitude: lat } = inside ?? { longitude: area.lng, latitude: area.lat }
    return { lat: roundDegrees(lat), lng: roundDegrees(lng), name: area.name, area }
  }

  async function findFieldPlace(field: string, { request, reply }: Call): Promise<Place> {
    const { user } = request
    if (user === null) throw unauthorized(request)
    const found = await app.inTurn(request, reply, () => requireField(writer, user, field))
    const { id, name, longitude: lng, latitude: lat } = found
    return { lat: roundDegrees(lat), lng: roundDegrees(lng), name: name ?? id, area: null }
  }

  return {
    searchAreas,
    findArea,
    /** The name of a large area of a country, for examples; undefined without boundaries. */
    findExample: async (countryCode: string, call: Call): Promise<string | undefined> =>
      (await readNames(call)).names.exampleIn(countryCode),
    /**
     * Finds the place of a text as {@link readPlace} reads it; an area is a point inside.
     *
     * @throws {ApiError} INVALID_PARAMETERS, UNAUTHORIZED for a field without a token, NOT_FOUND, or INSUFFICIENT_SCOPE
     */
    async findPlace(text: string, options: AreaOptions, call: Call): Promise<{ place: Place } | Candidates> {
      const read = readPlace(text)
      if ('position' in read) return { place: { ...read.position, name: null, area: null } }
      if ('field' in read) return { place: await findFieldPlace(read.field, call) }
      const found = await findArea(read.name, options, call)
      return 'area' in found ? { place: await findPlaceIn(found.area, call) } : found
    },
  }
}

function describeArea({ name, code, level, parent }: NamedArea): string {
  return `${code} is ${name}, level ${level}${parent === null ? '' : `, in ${parent}`}`
}

/** The error where a text means no area, or several. */
export class UnknownPlace extends ApiError {
  readonly candidates: readonly NamedArea[]

  /** @param field names it in the error */
  constructor({ candidates, isNear }: Candidates, field: string) {
    const described = candidates.map(describeArea).join('; ')
    const [near] = isNear ? candidates : []
    const sentence = near
      ? `There is no area with this code or name: did you mean ${near.name} (${near.code})?`
      : candidates.length > 0
        ? 'Several areas may be meant: send the code of one.'
        : 'There is no area with this code or name.'
    super('UNKNOWN_AREA', sentence, [
      {
        field,
        message: `${field} must be the code of one area${described && `: ${described}`}`,
        ...(described && { allowed: candidates.map(({ code }) => code) }),
      },
    ])
    this.candidates = candidates
  }
}
