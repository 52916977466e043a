import { Command } from 'commander'
import { ofSeasonless } from '#schemas/product.ts'
import { COUNTRIES } from '#src/domains/reference/lists.ts'
import { type CountryEntry, listCountryEntries } from '#src/domains/reference/queries.ts'
import { PRODUCTS } from '#src/products/index.ts'
import { changeCommands, listCommand, offerCommands, type ReferenceGroup } from './reference.ts'
import { table } from './table.ts'

export const countriesCommand = new Command('countries').description(
  'List, add, rename and remove countries, and set the crops of each.',
)

const group: ReferenceGroup = {
  list: COUNTRIES,
  command: 'countries',
  example: { code: 'tza', name: 'Tanzania', otherName: 'Tanganyika' },
}
const commands = [
  listCommand(group, 'List all countries, and what there is of them.', listCountryEntries, countriesText),
  ...changeCommands(group),
  ...offerCommands(group),
]
for (const command of commands) countriesCommand.addCommand(command)

function countriesText(countries: CountryEntry[]): string {
  if (countries.length === 0) return 'There are no countries.'
  const rows = countries.map(({ code, name, crops, levels, aliases }) => [
    code,
    name,
    crops.join(', ') || `none${ofSeasonless(PRODUCTS.list, (names) => `, only ${names}`)}`,
    levels.join(', ') || 'none',
    aliases.join(', '),
  ])
  return table(['CODE', 'NAME', 'CROPS', 'BOUNDARIES', 'ALSO FOUND BY'], rows)
}
