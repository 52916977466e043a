import { codesOfProducts, releasesInputOf } from '#schemas/agent-tools.ts'
import { isoMonth } from '#src/lib/month.ts'
import { wordKey } from '#src/lib/name-key.ts'
import type { Products } from '#src/products/define.ts'
import type { PublishedRelease } from '../../lookup/published-release.ts'
import { leftOut } from '../drafts.ts'
import { knownCountry } from '../known-country.ts'
import { type Origins, originOf } from '../origins.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'

/** What is published, the newest first. */
export function releases({ list }: Products, origins: Origins) {
  return defineTool({
    name: 'releases',
    title: 'What is published',
    description:
      'Published releases, the newest first: product, country, crop, forecast month, inputs, scenarios, whether synthetic (demonstration data, not advice) or stale. Older months may be asked for by forecast_period. Example: {"country_code": "rwa"}',
    input: releasesInputOf(codesOfProducts(list)),
    async run({ product, country_code, crop }, by) {
      const snapshot = await origins.snapshot(by)
      const country = knownCountry(snapshot, country_code)
      const cropCode = crop === undefined ? null : snapshot.cropNamed(wordKey(crop))
      const found = snapshot.published
        .filter(
          (release) =>
            (product === undefined || release.product === product) &&
            (country === null || release.countryCode === country) &&
            (cropCode === null || release.cropCode === cropCode),
        )
        .sort(newestFirst)
      const draft = (most: number) => ({
        releases: found.slice(0, most).map((release) => saidOf(release, most)),
        ...leftOut(most, found.length),
      })
      return (most: number) => withSources(draft, found.slice(0, most).map(originOf))(most)
    },
  })
}

function newestFirst(a: PublishedRelease, b: PublishedRelease): number {
  const [one, other] = [a, b].map(({ forecastPeriod, code }) => `${forecastPeriod ?? ''} ${code}`)
  return (other as string).localeCompare(one as string, 'en')
}

function saidOf(release: PublishedRelease, most: number): object {
  const { code, product, countryCode, cropCode, forecastPeriod, synthetic, stale, layers } = release
  const labelsOf = (key: 'input' | 'scenario') =>
    [...new Set(layers.flatMap((layer) => layer[key] ?? []))].slice(0, most)
  return {
    release: code,
    product,
    country_code: countryCode,
    crop: cropCode,
    ...(forecastPeriod !== null && { forecast_month: isoMonth(forecastPeriod) }),
    synthetic,
    ...(stale && { stale }),
    inputs: labelsOf('input'),
    scenarios: labelsOf('scenario'),
  }
}
