import { Command } from 'commander'
import { CROPS } from '#src/domains/reference/lists.ts'
import { type CropEntry, listCropEntries } from '#src/domains/reference/queries.ts'
import { changeCommands, listCommand, offerCommands, type ReferenceGroup } from './reference.ts'
import { table } from './table.ts'

export const cropsCommand = new Command('crops').description(
  'List, add, rename and remove crops, and set the countries of each.',
)

const group: ReferenceGroup = {
  list: CROPS,
  command: 'crops',
  example: { code: 'maize', name: 'Maize', otherName: 'Corn' },
}
const commands = [
  listCommand(group, 'List all crops, and which countries offer them.', listCropEntries, cropsText),
  ...changeCommands(group),
  ...offerCommands(group),
]
for (const command of commands) cropsCommand.addCommand(command)

function cropsText(crops: CropEntry[]): string {
  if (crops.length === 0) return 'There are no crops.'
  const rows = crops.map(({ code, name, countries, aliases }) => [
    code,
    name,
    countries.join(', ') || 'none',
    aliases.join(', '),
  ])
  return table(['CODE', 'NAME', 'OFFERED BY', 'ALSO FOUND BY'], rows)
}
