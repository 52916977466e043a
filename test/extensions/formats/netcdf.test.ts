import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openRaster } from '#src/ingest/geotiff/file.ts'
import type { MeantBand } from '#src/ingest/readers.ts'
import { GRID, LAT, LON, openFrame, VALUES } from './frame.ts'
import { type WrittenNetcdf, type WrittenVariable, writeNetcdf } from './written-netcdf.ts'

const frame = openFrame()

const axis = (
  name: string,
  values: number[],
  units: string,
  attributes = {},
): Record<string, WrittenVariable> => ({
  [name]: { dimensions: [name], type: 'double', values, attributes: { units, ...attributes } },
})

/** A field on the grid, and what differs. */
function field(variable: Partial<WrittenVariable> = {}, more: Partial<WrittenNetcdf> = {}): WrittenNetcdf {
  const { variables = {}, dimensions = {}, ...rest } = more
  return {
    dimensions: { lat: LAT.length, lon: LON.length, ...dimensions },
    variables: {
      ...axis('lat', LAT, 'degrees_north'),
      ...axis('lon', LON, 'degrees_east'),
      yield: { dimensions: ['lat', 'lon'], type: 'float', values: VALUES, ...variable },
      ...variables,
    },
    ...rest,
  }
}

async function write(written: WrittenNetcdf | Buffer): Promise<string> {
  const path = frame.newPath('.nc')
  await writeFile(path, Buffer.isBuffer(written) ? written : writeNetcdf(written))
  return path
}

const open = async (written: WrittenNetcdf) => openRaster(await write(written))

const read = async (written: WrittenNetcdf, entry: MeantBand = {}) => frame.read(await write(written), entry)

const refusalOf = async (written: WrittenNetcdf | Buffer, entry: MeantBand = {}) =>
  frame.refusalOf(await write(written), entry)

test.each([
  ['south', LAT.toReversed(), LON],
  ['east', LAT, LON.toReversed()],
  ['south-east', LAT.toReversed(), LON.toReversed()],
])(
  'rows and columns that begin in the %s are those of a grid that begins in the north-west',
  async (_where, lat, lon) => {
    const values = lat.flatMap((y) =>
      lon.map((x) => VALUES[LAT.indexOf(y) * LON.length + LON.indexOf(x)] as number),
    )
    const turned = field(
      { values },
      { variables: { ...axis('lat', lat, 'degrees_north'), ...axis('lon', lon, 'degrees_east') } },
    )
    const found = await read(turned)
    expect(found).toEqual(await read(field()))
    expect(found).toMatchObject({ grid: GRID, pixels: VALUES, crs: { kind: 'epsg', code: 4326 } })
    expect(found.notes).toEqual(['x: yield names no CRS: its degrees are read as those of WGS 84.'])
  },
)

test('axes are known by their units, standard names, letters or names', async () => {
  const named = (y: string, x: string, of: [object, object]): WrittenNetcdf => ({
    dimensions: { [y]: 3, [x]: 4 },
    variables: {
      ...axis(y, LAT, '1', of[0]),
      ...axis(x, LON, '1', of[1]),
      yield: { dimensions: [y, x], type: 'float', values: VALUES },
    },
  })
  const standard = ['latitude', 'longitude'].map((standard_name) => ({ standard_name })) as [object, object]
  for (const of of [standard, [{ axis: 'Y' }, { axis: 'X' }] as [object, object]]) {
    expect(await read(named('a', 'b', of))).toMatchObject({ grid: GRID, pixels: VALUES })
  }
  expect(await read(named('latitude', 'longitude', [{}, {}]))).toMatchObject({ grid: GRID })
  const turned = ['grid_latitude', 'grid_longitude'].map((standard_name) => ({
    standard_name,
    units: 'degrees',
  }))
  expect((await read(named('rlat', 'rlon', turned as [object, object]))).crs.kind).toBe('unknown')
})

test('pixels are missing that have the fill value, a missing value, or lie outside the valid range', async () => {
  const attributes = {
    _FillValue: ['float', [1]] as const,
    missing_value: ['float', [2]] as const,
    valid_range: ['float', [4, 11]] as const,
    scale_factor: 0.5,
    add_offset: 100,
  }
  expect(await read(field({ attributes }))).toMatchObject({
    ...{ pixelType: '32BF', nodata: 1, scale: 0.5, offset: 100 },
    pixels: [1, 1, 1, 4, 5, 6, 7, 8, 9, 10, 11, 1],
  })
  expect(await read(field({ attributes }), { nodata: 'none', scale: 2 })).toMatchObject({
    ...{ nodata: undefined, scale: 2, offset: 100, pixels: VALUES },
  })
  const ofBytes = {
    _Unsigned: 'true',
    _FillValue: ['byte', [-1]] as const,
    valid_min: ['byte', [3]] as const,
  }
  const values = [-1, -2, ...VALUES.slice(2)]
  expect(await read(field({ type: 'byte', values, attributes: ofBytes }))).toMatchObject({
    ...{ pixelType: '8BUI', nodata: 255, pixels: [255, 254, ...VALUES.slice(2)] },
  })
  // Without a fill value one outside the range serves.
  expect(await read(field({ type: 'byte', attributes: { valid_max: ['byte', [9]] } }))).toMatchObject({
    ...{ nodata: 127, pixels: [...VALUES.slice(0, 9), 127, 127, 127] },
  })
  // A range of values, for pixels that are scaled.
  const scaled = { scale_factor: 0.1, valid_range: ['double', [0.25, 0.85]] as const }
  expect((await read(field({ type: 'short', attributes: scaled }))).pixels.slice(0, 4)).toEqual([
    -32767, -32767, 3, 4,
  ])
  expect(await read(field({ type: 'short' }))).toMatchObject({ nodata: -32767, pixels: VALUES })
})

const TIMES = { ...axis('time', [0, 31], 'days since 2026-07-01 00:00:00') }
const TWICE = [...VALUES, ...VALUES.map((value) => value + 100)]

test.each([undefined, 'time'])(
  'a band for each time is chosen by number, name or day (unlimited: %s)',
  async (unlimited) => {
    const rows = { dimensions: ['time', 'lat', 'lon'], values: TWICE, type: 'short' as const }
    const written = {
      ...field(rows, { dimensions: { time: 2 }, variables: TIMES }),
      ...(unlimited && { unlimited }),
    }
    for (const band of [2, 'yield 2026-08-01', '2026-08-01']) {
      expect(await read(written, { band })).toMatchObject({
        description: 'yield 2026-08-01',
        pixels: TWICE.slice(12),
      })
    }
    // The only record variable has no padding.
    const alone = { ...written, variables: { ...written.variables } }
    delete alone.variables.time
    expect(await read(alone, { band: 'yield time=2' })).toMatchObject({ pixels: TWICE.slice(12) })
  },
)

test('times of the day, other calendars, members and texts name bands as well', async () => {
  const names = async (variables: Record<string, WrittenVariable>, dimension: string, more = {}) => {
    const rows = { dimensions: [dimension, 'lat', 'lon'], values: TWICE }
    const file = await open(field(rows, { dimensions: { [dimension]: 2, ...more }, variables }))
    return [1, 2].map((band) => file.band({ band }, new Set()).description)
  }
  const hours = axis('time', [6, 36], 'hours since 2026-07-01')
  expect(await names(hours, 'time')).toEqual(['yield 2026-07-01T06:00Z', 'yield 2026-07-02T12:00Z'])
  const leapless = axis('time', [6, 36], 'days since 2026-07-01', { calendar: 'noleap' })
  expect(await names(leapless, 'time')).toEqual(['yield 2026-07-07', 'yield 2026-08-06'])
  // 2024 has no 29th of February in one, and 30 days of it in the other.
  const since = (calendar: string) => axis('time', [59, 60.5], 'days since 2024-01-01', { calendar })
  expect(await names(since('365_day'), 'time')).toEqual(['yield 2024-03-01', 'yield 2024-03-02T12:00Z'])
  expect(await names(since('360_day'), 'time')).toEqual(['yield 2024-02-30', 'yield 2024-03-01T12:00Z'])
  expect(await names(since('julian'), 'time')).toEqual(['yield time=59', 'yield time=60.5'])
  expect(await names(axis('time', [0, 1], 'months since 2026-07-01'), 'time')).toEqual([
    'yield time=0',
    'yield time=1',
  ])
  expect(await names(axis('quantile', [0.1, 0.9], '1'), 'quantile')).toEqual([
    'yield quantile=0.1',
    'yield quantile=0.9',
  ])
  expect(await names({}, 'member')).toEqual(['yield member=1', 'yield member=2'])
  const texts = [...Buffer.from('Below NormalAbove Normal')]
  const season: WrittenVariable = { dimensions: ['season', 'length'], type: 'char', values: texts }
  expect(await names({ season }, 'season', { length: 12 })).toEqual([
    'yield Below Normal',
    'yield Above Normal',
  ])
})

test('a file says in words what it and its bands are', async () => {
  const attributes = { units: 't/ha', long_name: 'Yield in a dry season' }
  const file = await open(field({ attributes }, { attributes: { title: 'July' } }))
  expect(file.words(0)).toEqual({ description: undefined, unit: undefined, notes: { title: 'July' } })
  const description = 'yield: Yield in a dry season'
  expect(file.words(1)).toEqual({ description, unit: 't/ha', notes: { long_name: 'Yield in a dry season' } })
  expect(file.band({ band: description }, new Set()).number).toBe(1)
  await file.close()
})

const UTM37 =
  'PROJCS["WGS 84 / UTM zone 37N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]]],PROJECTION["Transverse_Mercator"],AUTHORITY["EPSG","32637"]]'
const mapping = (attributes: WrittenVariable['attributes']): Record<string, WrittenVariable> => ({
  grid: { dimensions: [], type: 'int', values: [0], attributes: attributes ?? {} },
})

test.each<[string, WrittenVariable['attributes'], object]>([
  ['WKT', { crs_wkt: UTM37 }, { kind: 'epsg', code: 32637 }],
  ['WKT of GDAL', { spatial_ref: UTM37 }, { kind: 'epsg', code: 32637 }],
  ['a code', { epsg_code: 'EPSG:32637' }, { kind: 'epsg', code: 32637 }],
  ['a number', { epsg: 32637 }, { kind: 'epsg', code: 32637 }],
  [
    'degrees of a sphere',
    { grid_mapping_name: 'latitude_longitude', earth_radius: 6371000 },
    { proj: '+proj=longlat +R=6371000 +no_defs' },
  ],
  ['a rotated pole', { grid_mapping_name: 'rotated_latitude_longitude' }, { kind: 'rotated-pole' }],
  [
    'the parameters of a transverse Mercator',
    {
      grid_mapping_name: 'transverse_mercator',
      latitude_of_projection_origin: 0,
      longitude_of_central_meridian: 39,
      scale_factor_at_central_meridian: 0.9996,
      false_easting: 500000,
      false_northing: 0,
    },
    { proj: '+proj=tmerc +lat_0=0 +lon_0=39 +k=0.9996 +x_0=500000 +y_0=0 +datum=WGS84 +units=m +no_defs' },
  ],
  [
    'those of an azimuthal one on a sphere',
    {
      grid_mapping_name: 'lambert_azimuthal_equal_area',
      latitude_of_projection_origin: 5,
      longitude_of_projection_origin: 20,
      earth_radius: 6371000,
    },
    { proj: '+proj=laea +lat_0=5 +lon_0=20 +R=6371000 +units=m +no_defs' },
  ],
  [
    'those of a conic one',
    {
      grid_mapping_name: 'albers_conical_equal_area',
      standard_parallel: ['double', [20, -23]],
      latitude_of_projection_origin: 0,
      longitude_of_central_meridian: 25,
      semi_major_axis: 6378249.145,
      inverse_flattening: 293.465,
    },
    {
      proj: '+proj=aea +lat_0=0 +lon_0=25 +lat_1=20 +lat_2=-23 +a=6378249.145 +rf=293.465 +units=m +no_defs',
    },
  ],
  [
    'too few parameters',
    { grid_mapping_name: 'lambert_conformal_conic' },
    { kind: 'unknown', reason: 'grid describes it as lambert_conformal_conic, without WKT or a code' },
  ],
])('a grid mapping gives the CRS by %s', async (_what, attributes, crs) => {
  const found = await read(
    field({ attributes: { grid_mapping: 'grid' } }, { variables: mapping(attributes) }),
  )
  expect(found.crs).toMatchObject(crs)
})

test('the transform of GDAL counts where there are no coordinates', async () => {
  const of = (GeoTransform: string, variables = {}) =>
    field(
      { attributes: { grid_mapping: 'grid' } },
      { variables: { ...mapping({ GeoTransform }), ...variables } },
    )
  expect((await read(of('30 1 0 11 0 -1'))).grid).toEqual(GRID)
  const written = of('30 1 0 11 0 -1')
  delete written.variables.lat
  expect((await read(written)).grid).toEqual({ ...GRID, originX: 30 })
})

test('axes in kilometres are read in metres', async () => {
  const km = { ...axis('y', [3, 2, 1], 'km'), ...axis('x', [1, 2, 3, 4], 'km') }
  const written: WrittenNetcdf = {
    dimensions: { y: 3, x: 4 },
    variables: { ...km, yield: { dimensions: ['y', 'x'], type: 'float', values: VALUES } },
  }
  expect((await read(written)).grid).toMatchObject({
    originX: 500,
    originY: 3500,
    pixelWidth: 1000,
    pixelHeight: -1000,
  })
})

test('what is not read is refused with its reason, and with what there is to choose', async () => {
  const bent = { dimensions: ['lat', 'lon'], type: 'double' as const, values: VALUES }
  const noAxes = (attributes = {}) => {
    const written = field({ attributes }, { variables: { nav_lat: bent } })
    delete written.variables.lat
    return written
  }
  const two = field(
    {},
    {
      dimensions: { row: 2, column: 2 },
      variables: {
        low: { dimensions: ['lat', 'lon'], type: 'float', values: VALUES },
        ...axis('row', [1, 2], '1', { axis: 'Y' }),
        ...axis('column', [1, 2], '1', { axis: 'X' }),
        soil: { dimensions: ['row', 'column'], type: 'float', values: [1, 2, 3, 4] },
      },
    },
  )
  const whole = writeNetcdf(field())
  const huge = Buffer.from(whole)
  // The sizes of both dimensions, behind their names.
  for (const name of ['lat', 'lon']) huge.writeUInt32BE(4_000_000_000, huge.indexOf(name) + 4)
  const cases: [string, WrittenNetcdf | Buffer, MeantBand?][] = [
    ['several without a choice', two],
    ['a name that it has not', two, { band: 'high' }],
    ['a number that it has not', two, { band: 3 }],
    ['a variable on another grid', two, { band: 'soil' }],
    [
      'a day of two variables',
      field(
        { dimensions: ['time', 'lat', 'lon'], values: TWICE },
        {
          dimensions: { time: 2 },
          variables: { ...TIMES, low: { dimensions: ['time', 'lat', 'lon'], type: 'float', values: TWICE } },
        },
      ),
      { band: '2026-07-01' },
    ],
    ['an irregular axis', field({}, { variables: axis('lat', [10.5, 9.5, 8], 'degrees_north') })],
    [
      'an axis of one value',
      {
        ...field(
          { values: VALUES.slice(0, 4) },
          { dimensions: { lat: 1 }, variables: axis('lat', [9], 'degrees_north') },
        ),
      },
    ],
    ['an axis that stands still', field({}, { variables: axis('lat', [9, 9, 9], 'degrees_north') })],
    ['columns before rows', field({ dimensions: ['lon', 'lat'] })],
    [
      'a section',
      field(
        { dimensions: ['time', 'lon'] },
        { dimensions: { time: 3 }, variables: axis('time', [1, 2, 3], 'days since 2026-01-01') },
      ),
    ],
    [
      'too many times',
      field(
        { dimensions: ['time', 'lat', 'lon'], values: Array(5000 * 12).fill(1) },
        { dimensions: { time: 5000 } },
      ),
    ],
    ['a bent grid', noAxes({ coordinates: 'nav_lat nav_lon' })],
    ['no coordinates', noAxes()],
    ['no rows', { dimensions: { lat: 3 }, variables: axis('lat', LAT, 'degrees_north') }],
    ['a file that is cut off in its values', whole.subarray(0, whole.length - 8)],
    ['a file that is cut off in its header', whole.subarray(0, 100)],
    ['dimensions that are not there', huge],
    ['a version that is not read', Buffer.concat([Buffer.from('CDF\x05'), whole.subarray(4)])],
  ]
  const lines: string[] = []
  for (const [what, written, entry] of cases) lines.push(`${what}: ${await refusalOf(written, entry)}\n`)
  await expect(lines.join('')).toMatchFileSnapshot('refused/netcdf.txt')
})

test('a file that ends anywhere, or has any byte changed, is read or refused with a sentence', async () => {
  const whole = writeNetcdf(field({ attributes: { _FillValue: ['float', [1]] } }))
  for (let at = 8; at < whole.length; at += 13) await refusalOf(whole.subarray(0, at))
  for (let at = 4; at < whole.length; at += 7) {
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] as number) ^ 0xff
    const error = await openRaster(await write(damaged))
      .then((file) => file.close())
      .catch((error: Error) => error)
    if (error) expect(error).toMatchObject({ name: 'OperatorError' })
  }
})
