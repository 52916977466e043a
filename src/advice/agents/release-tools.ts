import { CatalogueInput, codesOfProducts, releasesInputOf } from '#schemas/agent-tools.ts'
import type { Products } from '#schemas/products/define.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { wordKey } from '#src/lib/names.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { knownCountry, type Origins, originOf } from './places.ts'
import { defineTool, leftOut, withSources } from './tool.ts'

/** Countries, crops and products, and what is published. */
export function catalogue({ list }: Products, origins: Origins) {
  function newestOf(snapshot: Snapshot, { code: countryCode, crops }: Country) {
    return list.flatMap(({ code: product, seasonal }) =>
      (seasonal ? crops : [null]).flatMap(
        (cropCode) => snapshot.releaseOf({ product, countryCode, cropCode, forecastPeriod: null }) ?? [],
      ),
    )
  }

  return defineTool({
    name: 'catalogue',
    title: 'What there is advice for',
    description:
      'Countries with their codes and crops, products with their units, and the newest release of each. Call it first when the country, the crop or the product is in doubt. Example: {}',
    input: CatalogueInput,
    async run({ country_code }, by) {
      const snapshot = await origins.snapshot(by)
      const wanted = knownCountry(snapshot, country_code)
      const countries = snapshot.countries.filter(({ code }) => wanted === null || code === wanted)
      const found = countries.map((country) => ({ country, releases: newestOf(snapshot, country) }))
      const draft = (most: number) => ({
        countries: found.slice(0, most).map(({ country: { code, name, crops }, releases }) => ({
          country_code: code,
          name,
          crops: crops.slice(0, most),
          published: releases.slice(0, most).map((release) => release.code),
        })),
        products: list.map(({ code, names, unit }) => ({ product: code, title: names.title, unit })),
        ...leftOut(most, found.length, ...found.map(({ releases }) => releases.length)),
      })
      return withSources(
        draft,
        found.flatMap(({ releases }) => releases.map(originOf)),
      )
    },
  })
}

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
