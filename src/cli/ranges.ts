import { Command } from 'commander'
import type { Transaction } from 'kysely'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import {
  deletePlausibleRange,
  listCropEntries,
  listPlausibleRanges,
  type StatedRange,
  upsertPlausibleRange,
} from '#src/catalog/reference-queries.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { table } from './table.ts'
import { JSON_OPTION, type Output, print, withExamples } from './terminal.ts'

interface RangeOptions extends Output {
  crop?: string
}

export const rangesCommand = new Command('ranges').description(
  'Set plausible ranges of products and crops. Releases with other values need --allow range.',
)

const list = rangesCommand
  .command('list')
  .description('List the plausible ranges: the defaults of products, and the ranges set in their place.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const ranges = allRanges(await listPlausibleRanges(writer))
      print(output, ranges, rangesText(ranges))
    }),
  )
withExamples(list, 'agro ranges list', 'agro ranges list --json')

const set = rangesCommand
  .command('set <product> <minimum> <maximum>')
  .description('Set the plausible range of a product, in its unit, for all crops or for one.')
  .option('--crop <code>', 'for this crop only')
  .option(...JSON_OPTION)
  .action(async (named: string, from: string, to: string, options: RangeOptions) => {
    const product = productNamed(named)
    const [minimum, maximum] = [numberOf(from), numberOf(to)]
    if (minimum > maximum) throw new OperatorError(`${from} is more than ${to}: the minimum comes first.`)
    const range = { product: product.code, cropCode: options.crop ?? null, minimum, maximum }
    await change(
      options,
      range,
      `${nameOf(range)} is plausible from ${from} to ${to} ${product.unit} now.`,
      (trx) => upsertPlausibleRange(trx, range),
    )
  })
withExamples(set, 'agro ranges set yield 0 15000 --crop wheat', 'agro ranges set forage 0 1')

const remove = rangesCommand
  .command('remove <product>')
  .description('Remove a range. The range of all crops, or the default of the product, applies again.')
  .option('--crop <code>', 'for this crop only')
  .option(...JSON_OPTION)
  .action(async (named: string, options: RangeOptions) => {
    const product = productNamed(named).code
    const range = { product, cropCode: options.crop ?? null }
    await change(options, range, `What was set for ${nameOf(range)} is removed.`, async (trx) => {
      if (await deletePlausibleRange(trx, product, range.cropCode)) return
      throw new OperatorError(`Nothing is set for ${nameOf(range)}; \`agro ranges list\` shows what is.`, {
        code: 'NOT_FOUND',
      })
    })
  })
withExamples(remove, 'agro ranges remove yield --crop wheat')

interface ListedRange extends StatedRange {
  unit: string
  /** False for the range of the product. */
  set: boolean
}

function allRanges(stated: StatedRange[]): ListedRange[] {
  return PRODUCTS.list.flatMap(({ code, unit, plausible }) => {
    const ofProduct = stated.filter(({ product }) => product === code)
    const own = { product: code, cropCode: null, ...plausible, unit, set: false }
    const set = ofProduct.map((range) => ({ ...range, unit, set: true }))
    return set.some(({ cropCode }) => cropCode === null) ? set : [own, ...set]
  })
}

function rangesText(ranges: ListedRange[]): string {
  const rows = ranges.map(({ product, cropCode, minimum, maximum, unit, set }) => [
    product,
    cropCode ?? 'all others',
    String(minimum),
    String(maximum),
    unit,
    set ? 'set' : 'of the product',
  ])
  return table(['PRODUCT', 'CROP', 'MINIMUM', 'MAXIMUM', 'UNIT', 'FROM'], rows)
}

function productNamed(code: string): ProductDefinition {
  const product = PRODUCTS.list.find((product) => product.code === code)
  if (product) return product
  throw new OperatorError(
    `There is no product ${code}; there are ${PRODUCTS.list.map((product) => product.code).join(', ')}.`,
    { code: 'NOT_FOUND' },
  )
}

function numberOf(text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(number)) return number
  throw new OperatorError(`${JSON.stringify(text)} is not a number.`)
}

function nameOf({ product, cropCode }: Pick<StatedRange, 'product' | 'cropCode'>): string {
  return cropCode === null ? product : `${product} of ${cropCode}`
}

function change(
  output: Output,
  range: Pick<StatedRange, 'product' | 'cropCode'>,
  text: string,
  work: (trx: Transaction<Tables>) => Promise<void>,
): Promise<void> {
  return withDatabase(async ({ writer }) => {
    await inTransaction(writer, async (trx) => {
      await refuseCrop(trx, range)
      await work(trx)
      await recordOperation(trx, { kind: 'reference_changed', detail: { change: text } })
    })
    print(output, range, text)
  })
}

async function refuseCrop(
  trx: Transaction<Tables>,
  { product, cropCode }: Pick<StatedRange, 'product' | 'cropCode'>,
): Promise<void> {
  if (cropCode === null) return
  if (!PRODUCTS.of(product).seasonal) throw new OperatorError(`${product} releases are not made for a crop.`)
  const crops = (await listCropEntries(trx)).map(({ code }) => code)
  if (crops.includes(cropCode)) return
  throw new OperatorError(`There is no crop ${cropCode}; there are ${crops.join(', ') || 'none'}.`, {
    code: 'NOT_FOUND',
  })
}
