/** The files of a Zarr by their names; objects are JSON. */
export type ZarrFiles = Record<string, object | Buffer>

/** Metadata of version 2: one chunk without compression, unless more is said. */
export const zarrArray = (shape: number[], dtype: string, more = {}) => ({
  ...{ zarr_format: 2, shape, chunks: shape, dtype, order: 'C' },
  ...{ fill_value: null, filters: null, compressor: null },
  ...more,
})

/** The group, and axes in degrees. */
export function zarrAxes(lat: number[], lon: number[]): ZarrFiles {
  const axis = (name: string, units: string, values: number[]): ZarrFiles => ({
    [`${name}/.zarray`]: zarrArray([values.length], '<f8'),
    [`${name}/.zattrs`]: { _ARRAY_DIMENSIONS: [name], units },
    [`${name}/0`]: Buffer.from(Float64Array.from(values).buffer),
  })
  return {
    '.zgroup': { zarr_format: 2 },
    ...axis('lat', 'degrees_north', lat),
    ...axis('lon', 'degrees_east', lon),
  }
}

/** A field of Float32 on such axes. */
export function zarrField(
  name: string,
  lat: number[],
  lon: number[],
  values: number[],
  more = {},
): ZarrFiles {
  return {
    ...zarrAxes(lat, lon),
    [`${name}/.zarray`]: zarrArray([lat.length, lon.length], '<f4'),
    [`${name}/.zattrs`]: { _ARRAY_DIMENSIONS: ['lat', 'lon'], ...more },
    [`${name}/0.0`]: Buffer.from(Float32Array.from(values).buffer),
  }
}

export function zarrBytes(files: ZarrFiles): [name: string, bytes: Buffer][] {
  return Object.entries(files).map(([name, content]) => [
    name,
    Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content)),
  ])
}
