import type { Band, MeantBand, RasterFile } from '#src/ingest/readers.ts'
import type { Pixels, PixelType } from '#src/raster/pixels.ts'

/** As a file has it: a text, or numbers. */
export type AttributeValue = string | number[]

/** An array of a file, with what the file says of it. */
export interface Variable {
  /** Its path in the file, without a slash at its start. */
  name: string
  /** Names of the variables that have their coordinates, where there are such. */
  dimensions: readonly string[]
  shape: readonly number[]
  /** Undefined for texts, and for values that are not read. */
  pixelType: PixelType | undefined
  /** Why its values are not read. */
  fault?: string | undefined
  attribute(name: string): AttributeValue | undefined
  /** The shape of what is stored as one block. */
  chunk: readonly number[]
  /** Of the format rather than of an attribute. */
  fill?: number | undefined
  /** @param start of a box, as `count` a number a dimension @returns its values, the last dimension first */
  read(start: readonly number[], count: readonly number[]): Promise<Pixels>
  /** Of a variable of texts. */
  readTexts?(): Promise<string[]>
}

/** A file or a folder of several variables. */
export interface Container {
  /** Missing pixels may have the values that NetCDF has for them. */
  isNetcdf: boolean
  /** Of all of it. */
  attribute(name: string): AttributeValue | undefined
  /** What GDAL writes before the path of a variable. */
  driver: string
  variables: Variable[]
  bytes: number
  close(): Promise<void>
}

/** Variables, and members of groups: fields of forecasts have tens. */
export const MOST_VARIABLES = 10_000
/** Coordinates, and texts. */
export const MOST_COORDINATES = 250_000

export function textOf(value: AttributeValue | undefined): string | undefined {
  return typeof value === 'string' ? value.trim() || undefined : undefined
}

/** Some writers have numbers as texts. */
export function numbersOf(value: AttributeValue | undefined): number[] {
  if (typeof value !== 'string') return value ?? []
  const numbers = value.trim().split(/[\s,]+/)
  return numbers.every((text) => text !== '' && !Number.isNaN(Number(text))) ? numbers.map(Number) : []
}

/** The name without its groups. */
export function lastName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

const MOST_EXACT = 2n ** 53n

/** Integers of 64 bits as Float64. @throws {Error} for one that would change */
export function exactNumbers(values: BigInt64Array | BigUint64Array): Float64Array {
  const numbers = new Float64Array(values.length)
  for (const [at, value] of values.entries()) {
    const number = Number(value)
    if ((value > MOST_EXACT || value < -MOST_EXACT) && BigInt(number) !== value) {
      throw new Error(`it has ${value}, which Float64 does not hold exactly`)
    }
    numbers[at] = number
  }
  return numbers
}

/** Of rasters whose pixels are all there, as they were. */
export const UNMASKED = {
  masks: [],
  maskPaths: [],
  alphaBand: undefined,
  lossy: false,
  fill: 0,
  isWritten: () => true,
} satisfies Partial<RasterFile>

/** A band as its file says, but for what the manifest says. */
export function describeMeant(
  entry: MeantBand,
  said: Omit<Band, 'nodata'> & { nodata: MeantBand['nodata'] },
): Band {
  const { nodata = said.nodata, scale = said.scale, offset = said.offset } = entry
  const missing = typeof nodata === 'number' && !Number.isNaN(nodata) ? nodata : undefined
  return { ...said, nodata: missing, scale, offset }
}
