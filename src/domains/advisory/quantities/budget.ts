import { compare, type Decimal, minus, plus, quotient, times, ZERO } from '#src/lib/decimal.ts'

/** What is bought of one input for the whole rate. */
export interface Purchase {
  kilograms: Decimal
  /** The kilograms of a bag; null where it is sold by weight. */
  bag: Decimal | null
  /** Of a bag, or of a kilogram. */
  price: Decimal
}

/** A number that need not be a decimal. The bottom is more than 0. */
interface Fraction {
  top: Decimal
  bottom: Decimal
}

const ONE: Decimal = { digits: 1n, scale: 0 }
const SHARE_DECIMALS = 4

const whole = (digits: bigint): Decimal => ({ digits, scale: 0 })

/** How many bags it takes for some kilograms. */
export function bagsFor(kilograms: Decimal, bag: Decimal): Decimal {
  return quotient(kilograms, bag, 0, 'up')
}

/** What a purchase costs: of whole bags, where there are bags. */
export function costOf({ kilograms, bag, price }: Purchase): Decimal {
  return times(bag === null ? kilograms : bagsFor(kilograms, bag), price)
}

/** What a share of all purchases costs. */
export function costOfShare(purchases: readonly Purchase[], share: Decimal): Decimal {
  const parts = purchases.map((one) => costOf({ ...one, kilograms: times(one.kilograms, share) }))
  return parts.reduce(plus, ZERO)
}

/**
 * The largest share of every rate, at most 1, that a budget pays for; rounded down, so that what it costs is never more.
 *
 * The cost grows with the share, by leaps where another bag is begun. So the share is one after which a bag would be
 * begun, or one between two leaps, where what is sold by weight takes what is left. For each input the last of its leaps
 * that the budget pays for is found by going back from where it would last without whole bags.
 */
export function largestShare(purchases: readonly Purchase[], budget: Decimal): Decimal {
  if (compare(costOfShare(purchases, ONE), budget) <= 0) return ONE
  const inBags = purchases.filter(({ bag, kilograms }) => bag !== null && kilograms.digits > 0n)
  const limit: Fraction = { top: budget, bottom: costByWeight(purchases) }
  const leaps = inBags.map((purchase) => lastLeapPaid(purchase, purchases, budget, limit))
  const last = leaps.reduce(later, { top: ZERO, bottom: ONE })
  const { top, bottom } = withTheRest(last, purchases, budget)
  return quotient(top, bottom, SHARE_DECIMALS, 'down')
}

/** What all would cost if bags could be divided: never more than what they do cost. More than 0 where that is. */
function costByWeight(purchases: readonly Purchase[]): Decimal {
  // The cost by weight is a quotient where there are bags: rounded down, a limit made of it stays one.
  const parts = purchases.map(({ kilograms, bag, price }) =>
    bag === null ? times(kilograms, price) : quotient(times(kilograms, price), bag, 9, 'down'),
  )
  return parts.reduce(plus, ZERO)
}

/** The last share before the next bag of an input is begun that the budget pays for. */
function lastLeapPaid(
  { kilograms, bag }: Purchase,
  purchases: readonly Purchase[],
  budget: Decimal,
  limit: Fraction,
): Fraction {
  const shareOf = (bags: bigint): Fraction => ({ top: times(whole(bags), bag as Decimal), bottom: kilograms })
  const isPaid = (bags: bigint) => isWithin(shareOf(bags), purchases, budget)
  const most = quotient(kilograms, bag as Decimal, 0, 'down').digits
  const bags =
    limit.bottom.digits > 0n
      ? quotient(times(kilograms, limit.top), times(bag as Decimal, limit.bottom), 0, 'down').digits
      : most
  let [paid, unpaid, step] = [bags < most ? bags : most, most + 1n, 1n]
  while (paid > 0n && !isPaid(paid)) {
    unpaid = paid
    paid = paid > step ? paid - step : 0n
    step *= 2n
  }
  while (unpaid - paid > 1n) {
    const middle = (paid + unpaid) / 2n
    if (isPaid(middle)) paid = middle
    else unpaid = middle
  }
  return shareOf(paid)
}

/** Whether a budget pays for a share. Both sides are multiplied by what is below it. */
function isWithin({ top, bottom }: Fraction, purchases: readonly Purchase[], budget: Decimal): boolean {
  let cost = ZERO
  for (const { kilograms, bag, price } of purchases) {
    const part = times(kilograms, top)
    const units = bag === null ? part : times(quotient(part, times(bottom, bag), 0, 'up'), bottom)
    cost = plus(cost, times(units, price))
  }
  return compare(cost, times(budget, bottom)) <= 0
}

/** A share with as much more as is paid for before any other bag is begun. */
function withTheRest(share: Fraction, purchases: readonly Purchase[], budget: Decimal): Fraction {
  const { top, bottom } = share
  let [cost, slope] = [ZERO, ZERO]
  for (const { kilograms, bag, price } of purchases) {
    const part = times(kilograms, top)
    if (bag === null) {
      cost = plus(cost, times(part, price))
      slope = plus(slope, times(kilograms, price))
    } else if (kilograms.digits > 0n) {
      const begun = plus(quotient(part, times(bottom, bag), 0, 'down'), ONE)
      cost = plus(cost, times(times(begun, bottom), price))
    }
  }
  const left = minus(times(budget, bottom), cost)
  if (left.digits <= 0n || slope.digits <= 0n) return share
  return { top: plus(times(top, slope), left), bottom: times(bottom, slope) }
}

function later(a: Fraction, b: Fraction): Fraction {
  return compare(times(a.top, b.bottom), times(b.top, a.bottom)) >= 0 ? a : b
}
