import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openHdf5 } from '#src/extensions/formats/hdf5.ts'
import { type ZarrFiles, zarrArray, zarrAxes, zarrBytes } from '#test/setup/zarr.ts'
import { GRID, LAT, LON, openFrame, VALUES } from './frame.ts'

const { newPath, read, refusalOf } = openFrame()

describe('HDF5', () => {
  type Made = {
    data: number[] | BigInt64Array | Float32Array
    shape?: number[]
    dtype?: string
    chunks?: number[]
    compression?: number
    attributes?: Record<string, number | string>
  }

  /** A file whose fields have scales as NetCDF 4 has them. */
  async function write(fields: Record<string, Made>, more?: (path: string) => void): Promise<string> {
    const { File, ready } = await import('h5wasm/node')
    await ready
    const path = newPath('.h5')
    const file = new File(path, 'w')
    for (const [name, data, units] of [
      ['lat', LAT, 'degrees_north'],
      ['lon', LON, 'degrees_east'],
    ] as const) {
      const scale = file.create_dataset({ name, data: [...data], dtype: '<d' })
      scale.make_scale(name)
      scale.create_attribute('units', units)
    }
    for (const [name, { attributes = {}, ...made }] of Object.entries(fields)) {
      const group = name.includes('/') ? file.create_group(dirname(name)) : file
      const args = { dtype: '<f', shape: [3, 4], ...made, name: name.split('/').at(-1) as string }
      const dataset = group.create_dataset(args)
      for (const [attribute, value] of Object.entries(attributes)) dataset.create_attribute(attribute, value)
      dataset.attach_scale(args.shape.length - 2, '/lat')
      dataset.attach_scale(args.shape.length - 1, '/lon')
    }
    more?.(path)
    file.close()
    return path
  }

  test('fields in groups, in chunks, and of each type are bands by their paths', async () => {
    const path = await write({
      'forecast/low': { data: new Float32Array(VALUES), chunks: [2, 3], compression: 6 },
      count: { data: VALUES, dtype: '<H', attributes: { _FillValue: 12, scale_factor: 0.5 } },
      wide: { data: BigInt64Array.from(VALUES.map(BigInt)), dtype: '<q' },
    })
    expect(await read(path, { band: 'forecast/low' })).toMatchObject({
      ...{ grid: GRID, bandCount: 3, pixelType: '32BF', pixels: VALUES },
    })
    expect(await read(path, { band: 'count' })).toMatchObject({
      pixelType: '16BUI',
      nodata: 12,
      scale: 0.5,
      pixels: VALUES,
    })
    expect(await read(path, { band: 'wide' })).toMatchObject({ pixelType: '64BF', pixels: VALUES })
    expect(
      (await read(await write({ low: { data: new Float32Array(VALUES), chunks: [2, 3] } }))).block,
    ).toEqual({
      width: 3,
      height: 2,
    })
  })

  test('integers that Float64 does not hold, large chunks, other files and damage are refused', async () => {
    const exact = await write({
      wide: { data: BigInt64Array.from(VALUES.map(() => 2n ** 60n + 1n)), dtype: '<q' },
    })
    expect(await refusalOf(exact)).toContain('has 1152921504606846977, which Float64 does not hold exactly')
    const chunks = await write({
      large: { data: new Float32Array(VALUES), maxshape: [null, null], chunks: [8192, 8192] } as Made,
    })
    expect(await refusalOf(chunks)).toContain(
      'its chunks have 268435456 bytes; at most 67108864 are read at a time',
    )
    const { File } = await import('h5wasm/node')
    const path = newPath('.h5')
    const linking = new File(path, 'w')
    linking.create_external_link(exact, 'wide', 'elsewhere')
    linking.close()
    expect(await refusalOf(path)).toBe('x.h5 has no variable with rows and columns of numbers.')
    const whole = await readFile(exact)
    for (let at = 600; at < whole.length; at += Math.ceil(whole.length / 40)) {
      const cut = newPath('.h5')
      await writeFile(cut, whole.subarray(0, at))
      await refusalOf(cut)
    }
  })

  test('a damaged chunk is refused, and each other byte that is damaged has a sentence', async () => {
    const noise = Float32Array.from(VALUES, (value) => Math.sin(value))
    const made = await write({ low: { data: noise, chunks: [3, 4], compression: 9 } })
    const whole = await readFile(made)
    const chunk = deflateSync(Buffer.from(noise.buffer), { level: 9 })
    const at = whole.indexOf(chunk.subarray(2, 12))
    expect(at).toBeGreaterThan(0)
    const path = newPath('.h5')
    const damagedAt = async (place: number) => {
      const damaged = Buffer.from(whole)
      damaged[place] = (damaged[place] as number) ^ 0xff
      await writeFile(path, damaged)
      return path
    }
    expect(await refusalOf(await damagedAt(at + 8))).toMatch(/^x\.h5 cannot be read at rows 0 to 2 of low: /)
    for (let place = 8; place < whole.length; place += Math.ceil(whole.length / 60)) {
      const error = await read(await damagedAt(place)).catch((error: Error) => error)
      if (error instanceof Error) expect(error.name).toBe('OperatorError')
    }
  })

  test('damage on which the library gives up or looks for ever is an error in time, and the next file is read', async () => {
    const { File } = await import('h5wasm/node')
    const made = await write({ low: { data: new Float32Array(VALUES) } })
    const path = newPath('.h5')
    const file = new File(path, 'w')
    file.create_attribute('seasons', ['dry', 'wet'])
    file.close()
    const whole = await readFile(path)
    // Texts lie in it: the size of one is at 24.
    const heap = whole.indexOf('GCOL')
    expect(heap).toBeGreaterThan(0)
    const failureAt = async (place: number) => {
      const [copy, damaged] = [newPath('.h5'), Buffer.from(whole)]
      damaged[heap + place] = (damaged[heap + place] as number) ^ 0xff
      await writeFile(copy, damaged)
      return openHdf5(copy, 5000).catch(({ message }: Error) => message)
    }
    expect(await failureAt(0)).toBe('the library of HDF5 gave up')
    expect(await read(made, { band: 'low' })).toMatchObject({ pixels: VALUES })
    expect(await failureAt(24)).toBe('its reading takes longer than 5 seconds')
    expect(await read(made, { band: 'low' })).toMatchObject({ pixels: VALUES })
  })

  test('a file of HDF5 without scales has no grid, and says which variable it is of', async () => {
    const { File } = await import('h5wasm/node')
    const path = newPath('.h5')
    const file = new File(path, 'w')
    file.create_dataset({ name: 'yield', data: VALUES, shape: [3, 4], dtype: '<f' })
    file.close()
    expect(await refusalOf(path)).toContain(
      'of yield, dimension 1 of yield and dimension 2 of yield of yield have no coordinates',
    )
  })
})

describe('Zarr', () => {
  async function write(written: ZarrFiles): Promise<string> {
    const path = newPath('.zarr')
    for (const [name, bytes] of zarrBytes(written)) {
      await mkdir(dirname(join(path, name)), { recursive: true })
      await writeFile(join(path, name), bytes)
    }
    return path
  }

  const doubles = (values: number[]) => Buffer.from(Float64Array.from(values).buffer)
  const floats = (values: number[]) => Buffer.from(Float32Array.from(values).buffer)

  const axes = zarrAxes(LAT, LON)
  const attributes = { _ARRAY_DIMENSIONS: ['lat', 'lon'] }

  test('version 2: chunks that are not there have the fill value, and names may have spaces', async () => {
    const path = await write({
      ...axes,
      'Below Normal/.zarray': zarrArray([3, 4], '<f4', { chunks: [2, 4], fill_value: -1 }),
      'Below Normal/.zattrs': attributes,
      'Below Normal/0.0': floats(VALUES.slice(0, 8)),
    })
    expect(await read(path, { band: 'Below Normal' })).toMatchObject({
      ...{ grid: GRID, nodata: -1, block: { width: 4, height: 2 } },
      pixels: [...VALUES.slice(0, 8), -1, -1, -1, -1],
    })
  })

  test('version 3: its fill value of 0 is a value, and that of an attribute counts', async () => {
    const third = (shape: number[], data_type: string, dimension_names: string[], more = {}) => ({
      ...{ zarr_format: 3, node_type: 'array', shape, data_type, dimension_names, fill_value: 0 },
      chunk_grid: { name: 'regular', configuration: { chunk_shape: shape } },
      chunk_key_encoding: { name: 'default', configuration: { separator: '/' } },
      codecs: [{ name: 'bytes', configuration: { endian: 'little' } }],
      ...more,
    })
    const path = await write({
      'zarr.json': { zarr_format: 3, node_type: 'group' },
      'lat/zarr.json': third([3], 'float64', ['lat'], { attributes: { units: 'degrees_north' } }),
      'lat/c/0': doubles(LAT),
      'lon/zarr.json': third([4], 'float64', ['lon'], { attributes: { units: 'degrees_east' } }),
      'lon/c/0': doubles(LON),
      'yield/zarr.json': third([3, 4], 'float32', ['lat', 'lon']),
      'yield/c/0/0': floats(VALUES),
      'low/zarr.json': third([3, 4], 'float32', ['lat', 'lon'], {
        // As xarray writes -9999.
        attributes: { _FillValue: doubles([-9999]).toString('base64') },
      }),
      'low/c/0/0': floats(VALUES),
    })
    expect(await read(path, { band: 'yield' })).toMatchObject({
      grid: GRID,
      nodata: undefined,
      pixels: VALUES,
    })
    expect(await read(path, { band: 'low' })).toMatchObject({ nodata: -9999, pixels: VALUES })
  })

  test('chunks that hold more than their pixels, are cut off, or are packed in another way are refused', async () => {
    const packed = (compressor: object, chunk: Buffer) =>
      write({
        ...axes,
        'yield/.zarray': zarrArray([3, 4], '<f4', { compressor }),
        'yield/.zattrs': attributes,
        'yield/0.0': chunk,
      })
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const lz4 = Buffer.alloc(100)
    lz4.writeUInt32LE(2_000_000_000)
    const blosc = Buffer.alloc(100)
    blosc.writeUInt32LE(2_000_000_000, 4)
    const whole = gzipSync(floats(VALUES))
    const cases = {
      gzip: await packed({ id: 'gzip' }, bomb),
      zstd: await packed({ id: 'zstd' }, Buffer.from('28b52ffda400e1f50500', 'hex')),
      lz4: await packed({ id: 'lz4' }, lz4),
      blosc: await packed({ id: 'blosc' }, blosc),
      'cut off': await packed({ id: 'gzip' }, whole.subarray(0, 20)),
      'too short': await packed({ id: 'gzip' }, gzipSync(floats(VALUES.slice(2)))),
      lzma: await packed({ id: 'lzma' }, whole),
      'a type that is not read': await write({
        ...axes,
        'yield/.zarray': zarrArray([3, 4], '<c16'),
        'yield/.zattrs': attributes,
      }),
      'another size than its axes': await write({
        ...axes,
        'yield/.zarray': zarrArray([4, 3], '<f4'),
        'yield/.zattrs': attributes,
      }),
      'chunks of nothing': await write({
        ...axes,
        'yield/.zarray': zarrArray([3, 4], '<f4', { chunks: [0, 4] }),
        'yield/.zattrs': attributes,
      }),
      'large chunks': await write({
        ...axes,
        'yield/.zarray': zarrArray([3, 4], '<f4', { chunks: [8192, 8192] }),
        'yield/.zattrs': attributes,
      }),
      'broken metadata': await write({ ...axes, 'yield/.zarray': Buffer.from('{"shape": [3,') }),
      'wrong metadata': await write({
        ...axes,
        'yield/.zarray': { zarr_format: 2, shape: 'all' },
        'yield/.zattrs': attributes,
      }),
      'no arrays': await write({ '.zgroup': { zarr_format: 2 } }),
    }
    const lines: string[] = []
    for (const [what, path] of Object.entries(cases)) {
      lines.push(`${what}: ${await refusalOf(path)}\n`)
    }
    await expect(lines.join('')).toMatchFileSnapshot('refused/zarr.txt')
  })
})
