import { DEFAULT_CRS } from './parameters.ts'

/** A layer of a release, or a band about layers, as EDR has it. */
export interface ReleaseParameter {
  id: string
  /** The index of its band among the layers and companions of the release. */
  layer: number
  title: string
  description: string
  unit: string
}

type Place =
  | { type: 'Point'; coordinates: readonly [number, number] }
  | { type: 'Polygon'; coordinates: unknown }

/** Values at a place, in the order of the parameters; null for none. */
export interface Located {
  place: Place
  values: readonly (number | null)[]
}

interface CoverageFrame {
  parameters: readonly ReleaseParameter[]
  /** The first moment of the month; null for a release without one. */
  time: string | null
}

/** A coverage, or a collection of them, as CoverageJSON 1.0. */
export function writeCoverageJson(frame: CoverageFrame, located: readonly Located[]): object {
  const parameters = Object.fromEntries(frame.parameters.map((one) => [one.id, describeParameter(one)]))
  const [only, ...others] = located.map((one) => writeCoverage(frame, one))
  if (only && others.length === 0) return { ...only, parameters }
  return {
    type: 'CoverageCollection',
    domainType: located[0]?.place.type ?? 'Polygon',
    parameters,
    referencing: describeAxes(frame),
    coverages: located.map((one) => writeCoverage(frame, one)),
  }
}

/** Texts say their language. */
function describeParameter({ title, description, unit }: ReleaseParameter) {
  return {
    type: 'Parameter',
    description: { en: description },
    unit: { label: { en: unit }, symbol: unit },
    observedProperty: { label: { en: title } },
  }
}

function writeCoverage(frame: CoverageFrame, { place, values }: Located): object {
  const { parameters, time } = frame
  const axes =
    place.type === 'Point'
      ? { x: { values: [place.coordinates[0]] }, y: { values: [place.coordinates[1]] } }
      : { composite: { dataType: 'polygon', coordinates: ['x', 'y'], values: [place.coordinates] } }
  return {
    type: 'Coverage',
    domain: {
      type: 'Domain',
      domainType: place.type,
      axes: { ...axes, ...(time !== null && { t: { values: [time] } }) },
      referencing: describeAxes(frame),
    },
    ranges: Object.fromEntries(
      parameters.map(({ id }, at) => [
        id,
        { type: 'NdArray', dataType: 'float', axisNames: [], shape: [], values: [values[at] ?? null] },
      ]),
    ),
  }
}

function describeAxes({ time }: CoverageFrame): object[] {
  const space = { coordinates: ['x', 'y'], system: { type: 'GeographicCRS', id: DEFAULT_CRS.uri } }
  const ofTime = { coordinates: ['t'], system: { type: 'TemporalRS', calendar: 'Gregorian' } }
  return time === null ? [space] : [space, ofTime]
}

/** The same values as GeoJSON: a feature a place. */
export function writeGeoJson(
  { parameters, time }: CoverageFrame,
  located: readonly Located[],
  { label, endpoint }: { label: string; endpoint: string },
): object {
  return {
    type: 'FeatureCollection',
    parameters: parameters.map((parameter) => ({ id: parameter.id, ...describeParameter(parameter) })),
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
