/** Percentages of below normal, normal and above normal, and the index of the one that came. */
export interface DrawnSeason {
  percents: readonly [number, number, number]
  outcome: number
}

/** Random integers below a bound, the same on each machine: Mulberry32 by T. Ettinger, of whole numbers alone. */
export function createDice(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound)
  }
}

type Percents = DrawnSeason['percents']

/** Odds of 5 to 90 %. */
function drawOdds(roll: (bound: number) => number): Percents {
  const below = 5 + roll(86)
  const normal = 5 + roll(91 - below)
  return [below, normal, 100 - below - normal]
}

function drawOutcome(roll: (bound: number) => number, [below, normal, above]: Percents): number {
  const rolled = roll(below + normal + above)
  return Number(rolled >= below) + Number(rolled >= below + normal)
}

/** What the odds that are stated have to do with those that seasons are drawn from. */
const KINDS = {
  /** They are the same, and tell much. */
  sharp: (roll) => {
    const percents = drawOdds(roll)
    return { percents, outcome: drawOutcome(roll, percents) }
  },
  /** A third each, rounded, is stated and true. */
  climatology: (roll) => ({ percents: [33, 33, 33], outcome: drawOutcome(roll, [33, 33, 33]) }),
  /** Much is stated, and a third each is true. */
  pretended: (roll) => ({ percents: drawOdds(roll), outcome: drawOutcome(roll, [33, 33, 33]) }),
} satisfies Record<string, (roll: (bound: number) => number) => DrawnSeason>

export type Kind = keyof typeof KINDS

export function drawSeasons(kind: Kind, count: number): DrawnSeason[] {
  const roll = createDice(22)
  return Array.from({ length: count }, () => KINDS[kind](roll))
}

export function seasonsCsv(seasons: readonly DrawnSeason[]): string {
  const lines = seasons.map(({ percents, outcome }) =>
    [...percents.map((one) => one / 100), outcome].join(','),
  )
  return ['below,normal,above,outcome', ...lines, ''].join('\n')
}
