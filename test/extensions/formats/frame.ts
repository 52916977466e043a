import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'
import { openRaster } from '#src/ingest/geotiff/file.ts'
import type { MeantBand } from '#src/ingest/readers.ts'
import { newFolder } from '#test/setup/folders.ts'

/** Pixels of a degree, as axes and as the core has them, with their values. */
export const LAT = [10.5, 9.5, 8.5]
export const LON = [36.5, 37.5, 38.5, 39.5]
export const VALUES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
export const GRID = { originX: 36, originY: 11, pixelWidth: 1, pixelHeight: -1, width: 4, height: 3 }

/** A folder for the files of a test file, and what is read of them. */
export function openFrame() {
  let folder = ''
  let files = 0
  beforeAll(async () => {
    folder = await newFolder()
  })

  /** A band as the core sees it, and the whole of its pixels. */
  async function read(path: string, entry: MeantBand = {}) {
    const file = await openRaster(path)
    try {
      const notes = new Set<string>()
      const { number, ...band } = file.band(entry, notes)
      const { grid, crs, block, bandCount } = file
      const [pixels = []] = await file.read({ column: 0, row: 0, width: grid.width, height: grid.height }, [
        number,
      ])
      // A part begins elsewhere in what is stored.
      const [part = []] = await file.read({ column: 1, row: 1, width: 2, height: 1 }, [number])
      expect(Array.from(part)).toEqual(Array.from(pixels.slice(grid.width + 1, grid.width + 3)))
      const said = [...file.notes, ...notes].map((note) => note.replace(path, 'x'))
      return { ...band, grid, crs, block, bandCount, notes: said, pixels: Array.from(pixels) }
    } finally {
      await file.close()
    }
  }

  return {
    newPath: (ending: string) => join(folder, `${files++}${ending}`),
    read,
    /** Files that are numbered are x. */
    async refusalOf(path: string, entry: MeantBand = {}): Promise<string> {
      const error = await read(path, entry).catch((error: Error) => error)
      expect(error).toMatchObject({ name: 'OperatorError' })
      return (error as Error).message
        .replaceAll(`${folder}/`, '')
        .replaceAll(/\b\d+(?=(?:\.(?:nc|zarr|asc|h5)|-\w+\.tif|\.tif)\b)/g, 'x')
    },
  }
}
