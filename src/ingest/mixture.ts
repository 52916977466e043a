import type { Conditions } from '#schemas/certainty.ts'
import { OperatorError } from '#src/errors.ts'
import { formatCentre, type Window } from '#src/raster/grid.ts'
import { createPixels, type Pixels, type StoredBand, storedNodata } from '#src/raster/pixels.ts'
import { COMPANION_DECIMALS } from './companions.ts'
import type { CoverageSource, LayerSource, ReleaseSource } from './source.ts'

/** Bands of one input, scenario and role, each for a condition, and the band that is made of them. */
interface Mixture {
  made: LayerSource
  /** By the index of their condition in the release; undefined where it has none. */
  members: (number | undefined)[]
  /** Whether pixels are copied as they are stored; else they are values. */
  isStored: boolean
}

const MADE = { origin: 'mixed by condition', made: true } as const

/** In `taken`: there is no condition, or the code is none, which the check of contradictions refuses. */
const NONE = -1
const NO_CODE = -2

/**
 * Adds to a release with conditions the layers that answer without one: at each pixel the value of the condition that its
 * landscape raster has there, or else of its default. With a landscape raster, a band for each condition has 1 where
 * that was taken and 0 elsewhere. A release without conditions stays as it is.
 */
export function withMixture(source: ReleaseSource): ReleaseSource {
  const { conditions } = source.description
  if (!conditions) return source
  return { ...source, coverages: source.coverages.map((coverage) => mixCoverage(coverage, conditions)) }
}

function mixCoverage(coverage: CoverageSource, conditions: Conditions): CoverageSource {
  const { layers } = coverage
  const mixtures = listMixtures(layers, conditions)
  if (mixtures.length === 0) return coverage
  const landscape = layers.findIndex(({ role }) => role === 'landscape')
  const shares = landscape < 0 ? [] : conditions.list.map(({ condition }) => makeShare(condition))
  const conditioned = [...layers.keys()].filter((band) => layers[band]?.condition !== undefined)
  return {
    ...coverage,
    layers: [...layers, ...mixtures.map(({ made }) => made), ...shares],
    async read(window) {
      const pixels = await coverage.read(window)
      const taken = takeConditions(coverage, conditions, landscape, window, pixels)
      const hasValue = markValues(conditioned, layers, taken.length, pixels)
      refuseHoles(coverage, conditions, taken, hasValue, window)
      return [
        ...pixels,
        ...mixtures.map((mixture) => mix(mixture, layers, taken, pixels)),
        ...shares.map((_, index) =>
          hasValue.map((has, at) => (has === 1 ? Number(taken[at] === index) : NO_SHARE)),
        ),
      ]
    },
  }
}

function listMixtures(layers: readonly LayerSource[], conditions: Conditions): Mixture[] {
  const groups = new Map<string, number[]>()
  for (const [band, { role, input, scenario, condition }] of layers.entries()) {
    if (condition === undefined) continue
    const key = JSON.stringify([role, input, scenario])
    groups.set(key, [...(groups.get(key) ?? []), band])
  }
  return [...groups.values()].flatMap((bands) => {
    const found = bands.map((band) => layers[band]) as [LayerSource, ...LayerSource[]]
    const { condition: _, range, ...first } = found[0]
    // Ends of different quantiles are no ends together.
    const ofPair = layers.filter(
      ({ role, ...one }) =>
        role === undefined && one.input === first.input && one.scenario === first.scenario,
    )
    const hasOneRange = new Set(ofPair.map((one) => JSON.stringify(one.range))).size === 1
    if (first.role !== undefined && !hasOneRange) return []
    const members = conditions.list.map(({ condition }) =>
      bands.find((band) => layers[band]?.condition === condition),
    )
    const { isStored, ...storage } = chooseStorage(found)
    const decimals = Math.max(...found.map((layer) => layer.decimals))
    const made = { ...first, ...storage, ...(range && hasOneRange && { range }), decimals, ...MADE }
    return [{ made, members, isStored }]
  })
}

/** That of the bands where they share one with a pixel for no value, and values in double precision otherwise. */
function chooseStorage(
  bands: readonly LayerSource[],
): Pick<LayerSource, keyof StoredBand | 'scale' | 'offset'> & Pick<Mixture, 'isStored'> {
  const [{ pixelType, nodata, scale, offset }] = bands as [LayerSource]
  const isShared = bands.every(
    (one) =>
      one.pixelType === pixelType && one.nodata === nodata && one.scale === scale && one.offset === offset,
  )
  if (isShared && nodata !== undefined) return { pixelType, nodata, scale, offset, isStored: true }
  return {
    pixelType: '64BF',
    nodata: storedNodata('64BF', undefined),
    scale: 1,
    offset: 0,
    isStored: false,
  }
}

/** The pixel of a share for no value. */
const NO_SHARE = 255

function makeShare(condition: string): LayerSource {
  return {
    role: 'share',
    input: null,
    scenario: null,
    condition,
    unit: '1',
    scale: 1,
    offset: 0,
    decimals: COMPANION_DECIMALS.share as number,
    pixelType: '8BUI',
    nodata: NO_SHARE,
    ...MADE,
  }
}

/** The index of the condition of each pixel in the list of the release. */
function takeConditions(
  { layers }: CoverageSource,
  { list, codes = {}, default: ofAll }: Conditions,
  landscape: number,
  { width, height }: Window,
  pixels: readonly Pixels[],
): Int8Array {
  const indexOf = (name: string | undefined) => list.findIndex(({ condition }) => condition === name)
  const taken = new Int8Array(width * height).fill(indexOf(ofAll))
  if (landscape < 0) return taken
  const { nodata, scale, offset } = layers[landscape] as LayerSource
  const byCode = new Map(Object.entries(codes).map(([code, name]) => [Number(code), indexOf(name)]))
  const found = pixels[landscape] as Pixels
  for (let at = 0; at < taken.length; at++) {
    const pixel = found[at] as number
    if (pixel !== nodata) taken[at] = byCode.get(pixel * scale + offset) ?? NO_CODE
  }
  return taken
}

/** @throws {OperatorError} for a pixel with values, and without a condition */
function refuseHoles(
  { grid, layers }: CoverageSource,
  { list, codes = {} }: Conditions,
  taken: Int8Array,
  hasValue: Uint8Array,
  window: Window,
): void {
  const at = taken.findIndex((condition, index) => condition === NONE && hasValue[index] === 1)
  if (at < 0) return
  const landscape = layers.find(({ role }) => role === 'landscape')
  const centre = formatCentre(grid, window, at)
  throw new OperatorError(
    `${landscape?.origin ?? 'The release'} has none of the codes ${Object.keys(codes).join(', ')} at ${centre}, where layers have values: name the condition for such pixels in the manifest, as in "conditions.default: ${list[0]?.condition}".`,
  )
}

function mix(
  { made, members, isStored }: Mixture,
  layers: readonly LayerSource[],
  taken: Int8Array,
  pixels: readonly Pixels[],
): Pixels {
  const none = made.nodata as number
  const mixed = createPixels(made.pixelType, taken.length).fill(none)
  const sources = members.map((band) =>
    band === undefined ? undefined : { layer: layers[band] as LayerSource, from: pixels[band] as Pixels },
  )
  for (let at = 0; at < taken.length; at++) {
    const source = sources[taken[at] as number]
    if (!source) continue
    const { layer, from } = source
    const pixel = from[at] as number
    if (isStored) mixed[at] = pixel
    else if (pixel !== layer.nodata) mixed[at] = pixel * layer.scale + layer.offset
  }
  return mixed
}

/** @returns 1 where one of the bands has a value */
function markValues(
  bands: readonly number[],
  layers: readonly LayerSource[],
  count: number,
  pixels: readonly Pixels[],
): Uint8Array {
  const hasValue = new Uint8Array(count)
  for (const band of bands) {
    const { nodata } = layers[band] as LayerSource
    const found = pixels[band] as Pixels
    for (let at = 0; at < count; at++) if (found[at] !== nodata) hasValue[at] = 1
  }
  return hasValue
}
