import type { ProductDefinition } from '#src/products/define.ts'
import type { Series } from '#src/products/series.ts'
import type { Changed } from './comparison-queries.ts'
import type { ValueChange } from './value-changes.ts'

/** The type of an event, as receivers tell it from others that may come. */
export const EVENT_TYPE = 'org.agro-advisory.values.changed'

/** What a message says of a subscription. */
export type Told = Pick<
  Changed,
  'id' | 'name' | 'place' | 'threshold' | 'thresholdKind' | 'before' | 'after'
> & { series: Pick<Series, 'product' | 'countryCode' | 'cropCode'> }

/**
 * What is sent of a change: an event of CloudEvents 1.0 in JSON. It is made once, and sent as it is at each attempt.
 *
 * @param id by which receivers know it
 * @param test marks a message that tells of no change
 * @param basePath what the paths of the service begin with
 */
export function messageOf(
  id: string,
  { id: subscription, name, series, place, threshold, thresholdKind, before, after }: Told,
  { unit }: Pick<ProductDefinition, 'unit'>,
  changes: readonly ValueChange[],
  { basePath, time, test = false }: { basePath: string; time: Date; test?: boolean },
): string {
  return JSON.stringify({
    specversion: '1.0',
    id,
    source: `${basePath}/subscriptions/${subscription}`,
    type: EVENT_TYPE,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data: {
      ...(test && { test }),
      subscription,
      name,
      product: series.product,
      country_code: series.countryCode,
      crop: series.cropCode,
      place,
      threshold: { kind: thresholdKind, value: threshold },
      unit,
      release: after,
      release_before: before,
      changes,
    },
  })
}
