import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import * as queries from '#src/catalog/reference-queries.ts'
import { command, group, listCommand } from '#src/cli/command.ts'
import type { Output } from '#src/cli/terminal.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { deletePlausibleRange, upsertPlausibleRange } from './change-queries.ts'
import { changeReference } from './change-reference.ts'

const CROP_OPTION = ['--crop <code>', 'for this crop only'] as const

interface RangeOptions extends Output {
  crop?: string
}

interface SetOptions extends RangeOptions {
  largestFrom?: string
  meanTo?: string
}

type RangeKey = Pick<queries.StatedRange, 'product' | 'cropCode'>

const list = listCommand(
  'ranges',
  'List the plausible ranges: the defaults of products, and the ranges set instead of them.',
  listWithDefaults,
  {
    none: 'There are no products.',
    head: ['PRODUCT', 'CROP', 'MINIMUM', 'MAXIMUM', 'LARGEST FROM', 'MEAN TO', 'UNIT', 'FROM'],
    cells: ({ product, cropCode, minimum, maximum, largestFrom, meanTo, unit, set }) => [
      product,
      cropCode ?? 'all others',
      ...[minimum, maximum, largestFrom ?? '-', meanTo ?? '-'].map(String),
      unit,
      set ? 'set' : 'of the product',
    ],
  },
)

const set = command({
  usage: 'set <product> <minimum> <maximum>',
  description: 'Set the plausible range of a product, in its unit, for all crops or for one.',
  options: [
    CROP_OPTION,
    ['--largest-from <value>', 'what the largest value of a layer reaches at least; 0 for any'],
    ['--mean-to <value>', 'what the mean of the values above 0 of a layer is at most'],
  ],
  examples: [
    'agro ranges set yield 0 15000 --crop wheat',
    'agro ranges set yield 0 60000 --crop tomato --largest-from 4000 --mean-to 40000',
    'agro ranges set forage 0 1',
  ],
  async run({ crop, largestFrom, meanTo }: SetOptions, named: string, from: string, to: string) {
    const { code, unit } = requireProduct(named)
    const [minimum, maximum] = [readNumber(from), readNumber(to)]
    if (minimum > maximum) throw new OperatorError(`${from} is more than ${to}: the minimum comes first.`)
    const given = {
      ...{ product: code, cropCode: crop ?? null, minimum, maximum },
      largestFrom: largestFrom === undefined ? null : readNumber(largestFrom),
      meanTo: meanTo === undefined ? null : readNumber(meanTo),
    }
    return changeReference(async (trx) => {
      await refuseCrop(trx, given)
      const range = await upsertPlausibleRange(trx, given)
      const layers = [
        ...(range.largestFrom === null ? [] : [`, the largest value of a layer from ${range.largestFrom}`]),
        ...(range.meanTo === null ? [] : [`, its mean to ${range.meanTo}`]),
      ]
      return [range, `${nameRange(range)} is plausible from ${from} to ${to} ${unit} now${layers.join('')}.`]
    })
  },
})

const remove = command({
  usage: 'remove <product>',
  description: 'Remove a range. The range of all crops, or the default of the product, applies again.',
  options: [CROP_OPTION],
  examples: ['agro ranges remove yield --crop wheat'],
  async run({ crop }: RangeOptions, named: string) {
    const range = { product: requireProduct(named).code, cropCode: crop ?? null }
    return changeReference(async (trx) => {
      await refuseCrop(trx, range)
      if (await deletePlausibleRange(trx, range.product, range.cropCode))
        return [range, `What was set for ${nameRange(range)} is removed.`]
      const sentence = `Nothing is set for ${nameRange(range)}; \`agro ranges list\` shows those that are.`
      throw new OperatorError(sentence, { code: 'NOT_FOUND' })
    })
  },
})

export const rangesCommand = group(
  'ranges',
  'Set plausible ranges of products and crops. Releases with other values need --allow range.',
  [list, set, remove],
)

interface ListedRange extends queries.StatedRange {
  unit: string
  /** False for the range of the product. */
  set: boolean
}

async function listWithDefaults(db: Db): Promise<ListedRange[]> {
  const stated = await queries.listPlausibleRanges(db)
  return PRODUCTS.list.flatMap(({ code, unit, plausible }) => {
    const { largestFrom = null, meanTo = null } = plausible
    const own = { product: code, cropCode: null, ...plausible, largestFrom, meanTo, unit, set: false }
    const ranges = stated.filter(({ product }) => product === code)
    const set = ranges.map((range) => ({
      ...range,
      largestFrom: range.largestFrom ?? (Number(largestFrom) > range.maximum ? null : largestFrom),
      meanTo: range.meanTo ?? meanTo,
      unit,
      set: true,
    }))
    return set.some(({ cropCode }) => cropCode === null) ? set : [own, ...set]
  })
}

function requireProduct(code: string): ProductDefinition {
  const product = PRODUCTS.list.find((product) => product.code === code)
  if (product) return product
  const codes = PRODUCTS.list.map((product) => product.code).join(', ')
  throw new OperatorError(`There is no product ${code}; there are ${codes}.`, { code: 'NOT_FOUND' })
}

function readNumber(text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(number)) return number
  throw new OperatorError(`${JSON.stringify(text)} is not a number.`)
}

function nameRange({ product, cropCode }: RangeKey): string {
  return cropCode === null ? product : `${product} of ${cropCode}`
}

async function refuseCrop(trx: Trx, { product, cropCode }: RangeKey): Promise<void> {
  if (cropCode === null) return
  if (!PRODUCTS.of(product).seasonal) throw new OperatorError(`${product} releases are not made for a crop.`)
  const crops = (await queries.listCropEntries(trx)).map(({ code }) => code)
  if (crops.includes(cropCode)) return
  throw new OperatorError(`There is no crop ${cropCode}; there are ${crops.join(', ') || 'none'}.`, {
    code: 'NOT_FOUND',
  })
}
