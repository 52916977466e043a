import { parseCrs } from '#src/ingest/geotiff/crs.ts'
import type { FileCrs } from '#src/ingest/readers.ts'
import type { PixelGrid } from '#src/raster/grid.ts'
import { type Container, lastName, MOST_COORDINATES, numbersOf, textOf, type Variable } from './container.ts'

/** How a variable lies on the Earth: its last two dimensions are rows and columns. */
export interface Place {
  /** From north to south and from west to east. */
  grid: PixelGrid
  crs: FileCrs
  notes: string[]
  /** Stored from south to north. */
  flipsRows: boolean
  /** Stored from east to west. */
  flipsColumns: boolean
}

/** The centres of rows or columns, in the order of the file. */
interface Axis {
  first: number
  last: number
  count: number
  /** Of longitude or latitude, and not of a grid with a pole of its own. */
  isDegrees: boolean
}

const NAMES = {
  x: /^(?:lon|long|longitude|x|xc|easting|nav_lon)$/i,
  y: /^(?:lat|latitude|y|yc|northing|nav_lat)$/i,
}
const UNITS = { x: /^degrees?_?(?:e|east)$/i, y: /^degrees?_?(?:n|north)$/i }
const STANDARD = { x: /^(?:longitude|projection_x_coordinate)$/, y: /^(?:latitude|projection_y_coordinate)$/ }
const SINCE = /\bsince\b/i

/** What a coordinate is of, as it says itself, or else by its name. */
function directionOf(coordinate: Variable): 'x' | 'y' | 'other' | undefined {
  const said = (name: string) => textOf(coordinate.attribute(name)) ?? ''
  for (const direction of ['x', 'y'] as const) {
    const isSaid =
      said('axis').toLowerCase() === direction ||
      STANDARD[direction].test(said('standard_name')) ||
      UNITS[direction].test(said('units'))
    if (isSaid) return direction
  }
  if (/^[tz]$/i.test(said('axis')) || SINCE.test(said('units'))) return 'other'
  if (NAMES.x.test(lastName(coordinate.name))) return 'x'
  return NAMES.y.test(lastName(coordinate.name)) ? 'y' : undefined
}

/** A share of a pixel: axes of Float32 are rounded. */
const IRREGULAR = 0.01

/** @throws {Error} for an axis that has no pixels of one size */
async function readAxis(coordinate: Variable): Promise<Axis> {
  const { name, shape } = coordinate
  const [count = 0] = shape
  if (count < 2) throw new Error(`its axis ${name} has ${count} values, which give no size of pixels`)
  if (count > MOST_COORDINATES) throw new Error(`its axis ${name} has ${count} values`)
  const units = textOf(coordinate.attribute('units')) ?? ''
  const scale = /^(?:km|kilomet(?:er|re)s?)$/i.test(units) ? 1000 : 1
  const [factor = 1] = numbersOf(coordinate.attribute('scale_factor'))
  const [offset = 0] = numbersOf(coordinate.attribute('add_offset'))
  const values = Array.from(await coordinate.read([0], [count]), (value) => (value * factor + offset) * scale)
  const [first, last] = [values[0] as number, values.at(-1) as number]
  const step = (last - first) / (count - 1)
  const odd = values.findIndex(
    (value, at) => !(Math.abs(value - first - at * step) <= IRREGULAR * Math.abs(step)),
  )
  if (odd >= 0 || step === 0) {
    throw new Error(
      `its axis ${name} is irregular: value ${Math.max(odd, 0) + 1} of ${count} is ${values[Math.max(odd, 0)]}, and steps of ${Number(step.toPrecision(6))} lead elsewhere`,
    )
  }
  const isTurned = textOf(coordinate.attribute('standard_name'))?.startsWith('grid_') ?? false
  const isDegrees = /^deg/i.test(units) || /^l(?:at|on)/i.test(lastName(name))
  return { first, last, count, isDegrees: isDegrees && !isTurned }
}

/** @throws {Error} with the reason, for a variable that lies on no grid */
export async function findPlace(container: Container, variable: Variable): Promise<Place> {
  const [row, column] = variable.dimensions.slice(-2).map((name) => findCoordinate(container, name))
  const mapping = findMapping(container, variable)
  const transform = mapping && transformIn(mapping)
  if (!row || !column) {
    const [height = 0, width = 0] = variable.shape.slice(-2)
    if (!transform) refuseUnplaced(container, variable)
    const [originX, pixelWidth, originY, pixelHeight] = transform
    const grid = { originX, originY, pixelWidth, pixelHeight, width, height }
    return { grid, ...findCrs(container, variable, mapping, false), flipsRows: false, flipsColumns: false }
  }
  const [ofRows, ofColumns] = [directionOf(row), directionOf(column)]
  if (ofRows === 'x' && ofColumns === 'y') {
    throw new Error(`its dimensions are in the order ${variable.dimensions.join(', ')}, and rows come first`)
  }
  if (['other', 'x'].includes(ofRows ?? '') || ['other', 'y'].includes(ofColumns ?? '')) {
    throw new Error(`its last dimensions are ${row.name} and ${column.name}, and not latitude and longitude`)
  }
  const [y, x] = [await readAxis(row), await readAxis(column)]
  const [height, width] = variable.shape.slice(-2)
  if (height !== y.count || width !== x.count) {
    throw new Error(`it has ${height} x ${width} pixels, and its axes have ${y.count} x ${x.count} values`)
  }
  const flipsRows = y.last > y.first
  const flipsColumns = x.last < x.first
  const grid = {
    ...edges(x, flipsColumns, 'originX', 'pixelWidth'),
    ...edges(y, flipsRows, 'originY', 'pixelHeight'),
    width: x.count,
    height: y.count,
  }
  return {
    grid,
    ...findCrs(container, variable, mapping, x.isDegrees && y.isDegrees),
    flipsRows,
    flipsColumns,
  }
}

function findCoordinate({ variables }: Container, name: string): Variable | undefined {
  return variables.find((one) => one.name === name && one.shape.length === 1 && one.pixelType !== undefined)
}

function refuseUnplaced({ variables }: Container, { name, dimensions, attribute }: Variable): never {
  const coordinates = textOf(attribute('coordinates'))?.split(/\s+/) ?? []
  const bent = variables.find((one) => coordinates.includes(lastName(one.name)) && one.shape.length === 2)
  throw new Error(
    bent
      ? `its coordinates such as ${bent.name} have two dimensions, as of a bent grid`
      : `${dimensions.slice(-2).map(lastName).join(' and ')} of ${name} have no coordinates`,
  )
}

/** From centres to the outer edge of the first pixel. */
function edges<Origin extends string, Size extends string>(
  { first, last, count }: Axis,
  isFlipped: boolean,
  origin: Origin,
  size: Size,
): Record<Origin | Size, number> {
  const [from, to] = isFlipped ? [last, first] : [first, last]
  const step = (to - from) / (count - 1)
  return { [origin]: from - step / 2, [size]: step } as Record<Origin | Size, number>
}

/** The variable that says how a grid lies: by its name, or the names that writers have where none is given. */
function findMapping({ variables }: Container, variable: Variable): Variable | undefined {
  const given = textOf(variable.attribute('grid_mapping'))?.split(/[\s:]/)[0]
  const names = given ? [given] : ['crs', 'spatial_ref']
  const group = variable.name.slice(0, -lastName(variable.name).length)
  const paths = names.flatMap((name) => [name.replace(/^\//, ''), group + name])
  return variables.find((one) => paths.includes(one.name))
}

/** Of GDAL: x of the origin, its change a column and a row, then y. */
function transformIn(mapping: Variable): [x: number, width: number, y: number, height: number] | undefined {
  const numbers = numbersOf(mapping.attribute('GeoTransform'))
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return undefined
  const [x, width, across, y, along, height] = numbers as [number, number, number, number, number, number]
  return across === 0 && along === 0 && width > 0 && height !== 0 ? [x, width, y, height] : undefined
}

const WKT = ['crs_wkt', 'spatial_ref', 'esri_pe_string', 'proj4', 'proj4text', 'proj4_params']
const CODES = ['epsg_code', 'epsg', 'EPSG', 'EPSG_code']
/** Of WGS 84 and GRS 80, which differ by a tenth of a millimetre. */
const EARTH = { major: 6_378_137, inverse: 298.2572 }

function findCrs(
  container: Container,
  variable: Variable,
  mapping: Variable | undefined,
  isDegrees: boolean,
): Pick<Place, 'crs' | 'notes'> {
  const sources = mapping ? [mapping, variable] : [variable]
  for (const source of sources) {
    for (const name of CODES) {
      const code = String(source.attribute(name) ?? '').replace(/^EPSG:/i, '')
      if (/^\d{4,6}$/.test(code)) return { crs: { kind: 'epsg', code: Number(code) }, notes: [] }
    }
    for (const name of [...WKT, '_CRS']) {
      const text = textOf(source.attribute(name))
      const crs = text === undefined ? undefined : parseCrs(text)
      if (crs) return { crs, notes: [] }
    }
  }
  const name = mapping && textOf(mapping.attribute('grid_mapping_name'))
  if (name === 'rotated_latitude_longitude') return { crs: { kind: 'rotated-pole' }, notes: [] }
  if (isDegrees && (name === undefined || name === 'latitude_longitude')) return degreesOf(mapping, variable)
  const proj = mapping && name && readProjection(mapping, name)
  if (proj) return { crs: { kind: 'text', wkt: '', proj }, notes: [] }
  const reason = name
    ? `${mapping?.name} describes it as ${name}, without WKT or a code`
    : `${variable.name} of this ${container.driver} names none`
  return { crs: { kind: 'unknown', reason }, notes: [] }
}

/** Projections by their names in CF, with the parameters that each has to have. */
const PROJECTIONS: Record<string, [proj: string, needs: string[]]> = {
  transverse_mercator: ['tmerc', ['lat_0', 'lon_0']],
  lambert_azimuthal_equal_area: ['laea', ['lat_0', 'lon_0']],
  albers_conical_equal_area: ['aea', ['lat_0', 'lon_0', 'lat_1', 'lat_2']],
  lambert_conformal_conic: ['lcc', ['lat_0', 'lon_0', 'lat_1', 'lat_2']],
}

/** As PROJ has it; undefined for others, and without the parameters. */
function readProjection(mapping: Variable, name: string): string | undefined {
  const [proj, needs = []] = PROJECTIONS[name] ?? []
  const first = (attribute: string) => numbersOf(mapping.attribute(attribute))[0]
  const [lat1, lat2 = lat1] = numbersOf(mapping.attribute('standard_parallel'))
  const parameters: Record<string, number | undefined> = {
    lat_0: first('latitude_of_projection_origin'),
    lon_0: first('longitude_of_central_meridian') ?? first('longitude_of_projection_origin'),
    lat_1: lat1,
    lat_2: lat2,
    k: first('scale_factor_at_central_meridian'),
    x_0: first('false_easting'),
    y_0: first('false_northing'),
  }
  const isWhole = needs.every((need) => parameters[need] !== undefined)
  // Degrees that do not begin at Greenwich are left to GDAL.
  if (!proj || !isWhole || (first('longitude_of_prime_meridian') ?? 0) !== 0) return undefined
  const said = Object.entries(parameters).flatMap(([key, value]) =>
    value === undefined ? [] : `+${key}=${value}`,
  )
  return [`+proj=${proj}`, ...said, readEarth(mapping) ?? '+datum=WGS84', '+units=m +no_defs'].join(' ')
}

/** The parameters of PROJ; undefined for the ellipsoid of WGS 84. */
function readEarth(mapping: Variable | undefined): string | undefined {
  const [major = EARTH.major] = numbersOf(mapping?.attribute('semi_major_axis'))
  const [inverse = EARTH.inverse] = numbersOf(mapping?.attribute('inverse_flattening'))
  const [radius] = numbersOf(mapping?.attribute('earth_radius'))
  // GDAL writes a sphere without flattening.
  if (radius !== undefined || inverse === 0) return `+R=${radius ?? major}`
  const isKnown = major === EARTH.major && Math.abs(inverse - EARTH.inverse) < 0.0001
  return isKnown ? undefined : `+a=${major} +rf=${inverse}`
}

/** Degrees without more are those of WGS 84, as for GDAL. */
function degreesOf(mapping: Variable | undefined, { name }: Variable): Pick<Place, 'crs' | 'notes'> {
  const earth = readEarth(mapping)
  if (earth === undefined) {
    return {
      crs: { kind: 'epsg', code: 4326 },
      notes: [`${name} names no CRS: its degrees are read as those of WGS 84.`],
    }
  }
  return { crs: { kind: 'text', wkt: '', proj: `+proj=longlat ${earth} +no_defs` }, notes: [] }
}
