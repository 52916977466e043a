import type { Decimal } from '#src/lib/decimal.ts'
import { numberIn } from './reading.ts'

/** A unit of area, in square metres. */
interface AreaUnit {
  squareMetres: Decimal
  /** Where its size is from. */
  source: string
}

const metres = (digits: bigint, scale = 0): Decimal => ({ digits, scale })

/**
 * The units that an area may be told in: those with one agreed size, and the timad, which is given one here. What else differs
 * from place to place or from crop to crop, as the massa, the rope and the pole do, is none.
 */
export const AREA_UNITS: Readonly<Record<string, AreaUnit>> = {
  ha: { squareMetres: metres(10_000n), source: 'SI Brochure, table 8' },
  m2: { squareMetres: metres(1n), source: 'SI' },
  are: { squareMetres: metres(100n), source: 'a hundredth of a hectare' },
  acre: {
    squareMetres: metres(40_468_564_224n, 7),
    source: 'the international acre: 4,840 square yards of 0.9144 m (agreement of 1959)',
  },
  timad: {
    squareMetres: metres(2500n),
    source:
      'by definition: in Ethiopia a quarter of a hectare, as often reckoned; surveys have a factor a district',
  },
}

/** Other names of those units. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  hectare: 'ha',
  'm²': 'm2',
  sqm: 'm2',
  'sq m': 'm2',
  'square metre': 'm2',
  'square meter': 'm2',
}

/** The unit of area that a word means, in any case, also in the plural; undefined where there is none. */
export function areaUnitNamed(word: string): string | undefined {
  const name = word.trim().toLowerCase().replace(/\s+/g, ' ')
  for (const form of [name, name.replace(/s$/, '')]) {
    if (Object.hasOwn(AREA_UNITS, form)) return form
    if (Object.hasOwn(OTHER_NAMES, form)) return OTHER_NAMES[form]
  }
  return undefined
}

/** Moves the point of a number, so that no digit changes. */
function shifted(text: string, power: 2 | -2): number | string {
  return typeof numberIn(text) === 'number' ? Number(`${text.trim()}e${power}`) : text
}

/** A number and what it counts. */
const OF_UNIT = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i

/**
 * A number of kilograms that a text says, such as `50`, `50 kg` or `0.5 quintal` of 100 kg; what is none stays text, which is
 * refused as text in a body is.
 */
export function kilogramsIn(text: string): number | string {
  const [, number = '', unit = ''] = OF_UNIT.exec(text.trim()) ?? []
  if (/^quintals?$/i.test(unit)) return shifted(number, 2)
  return /^(kgs?|kilograms?)?$/i.test(unit) ? numberIn(number || text) : text
}

/** A price of a kilogram that a text says, such as `52.5`, `52.5/kg` or `5250/quintal`. */
export function pricePerKilogramIn(text: string): number | string {
  const [, number, unit] = /^(.*)\/(kg|quintal)s?$/i.exec(text) ?? []
  return unit?.toLowerCase() === 'quintal' ? shifted(number ?? '', -2) : numberIn(number ?? text)
}

/** Square metres as hectares. */
export function hectares({ digits, scale }: Decimal): Decimal {
  return { digits, scale: scale + 4 }
}
