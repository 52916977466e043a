import { CatalogueInput } from '#schemas/agent-tools.ts'
import type { Country } from '#src/domains/reference/queries.ts'
import type { Products } from '#src/products/define.ts'
import type { Snapshot } from '../../lookup/snapshot.ts'
import { leftOut } from '../drafts.ts'
import { knownCountry } from '../known-country.ts'
import { type Origins, originOf } from '../origins.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'

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
