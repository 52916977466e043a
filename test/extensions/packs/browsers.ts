import type { Page } from 'playwright-core'

/** Functions of browsers since 2021. Syntax is that of 2020, which the bundler holds. */
export const WITHOUT_NEW_FUNCTIONS = `{
  const lists = [Array.prototype, Object.getPrototypeOf(Int8Array.prototype)]
  for (const list of lists) for (const name of ['at', 'findLast', 'findLastIndex', 'toReversed', 'toSorted', 'with']) delete list[name]
  for (const name of ['toSpliced', 'group']) delete Array.prototype[name]
  for (const name of ['at', 'replaceAll', 'isWellFormed', 'toWellFormed']) delete String.prototype[name]
  for (const name of ['hasOwn', 'groupBy']) delete Object[name]
  for (const name of ['any', 'withResolvers', 'try']) delete Promise[name]
  for (const name of ['union', 'intersection', 'difference']) delete Set.prototype[name]
  for (const name of ['map', 'filter', 'take', 'drop', 'toArray', 'some', 'find']) delete globalThis.Iterator?.prototype[name]
  for (const name of ['structuredClone', 'Iterator', 'WeakRef', 'AggregateError', 'DecompressionStream']) delete globalThis[name]
  delete Map.groupBy
  delete Crypto.prototype.randomUUID
  delete Element.prototype.checkVisibility
}`

export interface Opened {
  page: Page
  /** Errors, warnings, and requests but for the file. */
  complaints: string[]
}

/** Types each place into the search, and reads what the page shows as data; null where it shows none. */
export const ASK_ALL = `(places) => places.map(({ lat, lng }) => {
  document.querySelector('input[name=place]').value = lat + ', ' + lng
  document.querySelector('form.search').requestSubmit()
  return new Promise((resolve) => setTimeout(() => resolve(document.querySelector('.calls code')?.textContent ?? null)))
}).reduce(async (before, one) => [...(await before), await one], Promise.resolve([]))`

export async function find(page: Page, text: string): Promise<void> {
  await page.getByLabel('Area or coordinates').fill(text)
  await page.getByRole('button', { name: 'Find' }).click()
}
