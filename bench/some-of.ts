import { InvalidArgumentError } from 'commander'

/**
 * Reads an option that lists some of the names that there are, with commas between them.
 *
 * @throws {InvalidArgumentError} names what there is not
 */
export function someOf(names: string[]): (list: string) => string[] {
  return (list) => {
    const chosen = list.split(',').map((name) => name.trim())
    const unknown = chosen.find((name) => !names.includes(name))
    if (unknown !== undefined) throw new InvalidArgumentError(`There is no "${unknown}".`)
    return chosen
  }
}
