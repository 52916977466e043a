/** A part of the document: an object of OpenAPI or of JSON Schema. */
export type Part = Record<string, unknown>

/** A place in the document, and the part that stands there. */
export interface Slot {
  owner: Part
  key: string
  /** The name that the part has there. */
  name: string
  /** The component or the operation that the place is in. */
  within: string
  value: Part
}

/** The reference to a component. */
export function refTo(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

export function isRef(part: Part): boolean {
  return '$ref' in part
}

export function slotsOf(owner: Part, within: string): Slot[] {
  return Object.entries(owner).map(([key, value]) => ({
    owner,
    key,
    name: key,
    within,
    value: value as Part,
  }))
}

/** `some_name`, `SOME_NAME` and `Some-Name` as `SomeName`. */
export function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/)
  return words
    .map((word) => {
      const rest = word === word.toUpperCase() ? word.slice(1).toLowerCase() : word.slice(1)
      return word.charAt(0).toUpperCase() + rest
    })
    .join('')
}

/** Finds the parts of the document that stand in several places. */
export class Repeats {
  #slotsByText = new Map<string, Slot[]>()

  add(slot: Slot): void {
    const text = JSON.stringify(slot.value, inOrderOfKeys)
    const slots = this.#slotsByText.get(text)
    if (slots) slots.push(slot)
    else this.#slotsByText.set(text, [slot])
  }

  /**
   * The repeated parts, the longest first, each with its first copy and a name that no component has.
   * A part that only copies of a longer one repeat is left out.
   */
  *named(components: Part): Generator<{ name: string; value: Part; slots: Slot[] }> {
    const replaced = new WeakSet<object>()
    const groups = [...this.#slotsByText].sort(([a], [b]) => b.length - a.length)
    for (const [, all] of groups) {
      const slots = all.filter(({ owner }) => !replaced.has(owner))
      const [first, ...copies] = slots
      if (first === undefined || copies.length === 0) continue
      for (const { value } of copies) markAll(value, replaced)
      yield { name: freeName(first, components), value: first.value, slots }
    }
  }
}

/** For `JSON.stringify`: parts are alike in whichever order they name their members. */
function inOrderOfKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function markAll(part: unknown, marked: WeakSet<object>): void {
  if (part === null || typeof part !== 'object') return
  marked.add(part)
  for (const inner of Object.values(part)) markAll(inner, marked)
}

/** The name of a part, with the place of its first copy before it where another part has the name. */
function freeName({ name, within }: Slot, taken: Part): string {
  const short = pascalCase(name)
  if (!(short in taken)) return short
  const long = `${pascalCase(within)}${short}`
  for (let count = 1; ; count++) {
    const numbered = count === 1 ? long : `${long}${count}`
    if (!(numbered in taken)) return numbered
  }
}
