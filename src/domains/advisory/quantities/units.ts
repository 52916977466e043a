import type { Decimal } from '#src/lib/decimal.ts'

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

/** Square metres as hectares. */
export function hectares({ digits, scale }: Decimal): Decimal {
  return { digits, scale: scale + 4 }
}
