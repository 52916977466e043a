import { DEFAULT_CRS } from '../crs.ts'
import { coverageParameter, type ReleaseParameter } from './parameters.ts'

export const COVERAGE_JSON_TYPE = 'application/prs.coverage+json'

/** Where values are of: a point, or the rings of a polygon. */
export type Place =
  | { type: 'Point'; coordinates: readonly [number, number] }
  | { type: 'Polygon'; coordinates: unknown }

/** Values at a place, in the order of the parameters; null where there is none. */
export interface Located {
  place: Place
  values: readonly (number | null)[]
}

/** What coverages have in common. */
export interface CoverageFrame {
  parameters: readonly ReleaseParameter[]
  /** The first moment of the month that it is about; null where it is of no time. */
  time: string | null
}

/** A coverage, or a collection of them, as CoverageJSON 1.0. */
export function coverageJsonOf(frame: CoverageFrame, located: readonly Located[]): object {
  const described = Object.fromEntries(
    frame.parameters.map((parameter) => [parameter.id, coverageParameter(parameter)]),
  )
  const [only, ...others] = located.map((one) => coverageOf(frame, one))
  if (only && others.length === 0) return { ...only, parameters: described }
  return {
    type: 'CoverageCollection',
    domainType: located[0]?.place.type ?? 'Polygon',
    parameters: described,
    referencing: referencingOf(frame),
    coverages: located.map((one) => coverageOf(frame, one)),
  }
}

function coverageOf(frame: CoverageFrame, { place, values }: Located): object {
  const axes =
    place.type === 'Point'
      ? { x: { values: [place.coordinates[0]] }, y: { values: [place.coordinates[1]] } }
      : {
          composite: { dataType: 'polygon', coordinates: ['x', 'y'], values: [place.coordinates] },
        }
  const time = frame.time === null ? {} : { t: { values: [frame.time] } }
  return {
    type: 'Coverage',
    domain: {
      type: 'Domain',
      domainType: place.type,
      axes: { ...axes, ...time },
      referencing: referencingOf(frame),
    },
    ranges: Object.fromEntries(
      frame.parameters.map(({ id }, at) => [
        id,
        { type: 'NdArray', dataType: 'float', axisNames: [], shape: [], values: [values[at] ?? null] },
      ]),
    ),
  }
}

function referencingOf({ time }: CoverageFrame): object[] {
  const space = { coordinates: ['x', 'y'], system: { type: 'GeographicCRS', id: DEFAULT_CRS.uri } }
  const inTime = { coordinates: ['t'], system: { type: 'TemporalRS', calendar: 'Gregorian' } }
  return time === null ? [space] : [space, inTime]
}

/** The same values as GeoJSON: a feature a place. */
export function geoJsonOf(
  { parameters, time }: CoverageFrame,
  located: readonly Located[],
  label: string,
  endpoint: string,
): object {
  return {
    type: 'FeatureCollection',
    parameters: parameters.map((parameter) => ({ id: parameter.id, ...coverageParameter(parameter) })),
    features: located.map(({ place, values }, at) => ({
      type: 'Feature',
      id: String(at + 1),
      geometry: place,
      properties: {
        label,
        datetime: time,
        'parameter-name': parameters.map(({ id }) => id),
        edrqueryendpoint: endpoint,
        ...Object.fromEntries(parameters.map(({ id }, index) => [id, values[index] ?? null])),
      },
    })),
  }
}
