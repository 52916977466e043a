import { readdir } from 'node:fs/promises'
import { OperatorError } from '#src/errors.ts'
import { conversion } from '#src/ingest/other-formats.ts'
import type { RasterFile, RasterReader } from '#src/ingest/readers.ts'
import { formatError } from '#src/lib/promises.ts'
import type { Container } from './container.ts'

/** Classic, and with offsets of 64 bits. */
const NETCDF_3 = ['CDF\x01', 'CDF\x02']
const HDF5 = '\x89HDF\r\n\x1a\n'
const ASCII_GRID = /^\s*(?:ncols|nrows|[xy]ll(?:corner|center)|cellsize|nodata_value|d[xy])\s+\S/i
/** One of these lies at the top of a Zarr. */
const OF_ZARR = /^(?:\.z(?:group|array|metadata)|zarr\.json)$/

/** @returns undefined for a format that is not read */
async function chooseFormat(path: string, beginning: string) {
  if (NETCDF_3.some((start) => beginning.startsWith(start)))
    return asFields((await import('./netcdf-3.ts')).openNetcdf3)
  if (beginning.startsWith(HDF5)) return asFields((await import('./hdf5.ts')).openHdf5)
  if (ASCII_GRID.test(beginning)) return (await import('./ascii-grid.ts')).openAsciiGrid
  const names = beginning === '' ? await readdir(path).catch(() => []) : []
  if (names.some((name) => OF_ZARR.test(name))) return asFields((await import('./zarr.ts')).openZarr)
  return undefined
}

function asFields(open: (path: string) => Promise<Container>) {
  return async (path: string): Promise<RasterFile> => {
    const container = await open(path)
    try {
      return await (await import('./raster.ts')).openContainer(container, path)
    } catch (error) {
      await container.close()
      throw error
    }
  }
}

export const reader: RasterReader = {
  ending: /\.(?:nc[34]?|cdf|h5|hdf5|he5|asc|zarr)$/i,
  folder: /\.zarr$/i,
  top: OF_ZARR,
  async open(path, beginning) {
    const open = await chooseFormat(path, beginning)
    if (!open) return undefined
    try {
      return await open(path)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      const reason = formatError(error).split('\n')[0]?.replace(/\.$/, '')
      throw new OperatorError(
        `${path} is cut off, damaged, or of a kind that is not read (${reason}): if gdalinfo knows it, ${conversion(path)} makes a GeoTIFF of it.`,
        { code: 'CUT_OFF' },
      )
    }
  },
  copy: async (address, folder, left) => (await import('./addresses.ts')).copyAddress(address, folder, left),
}
