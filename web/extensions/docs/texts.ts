/** Texts of the documentation. */
export const docs = {
  search: 'Search',
  searchHint: 'For example "district" or "webhook"',
  keys: 'Ctrl K',
  found: (count: number, phrase: string) =>
    `${count === 0 ? 'Nothing found' : count === 1 ? '1 result' : `${count} results`} for “${phrase}”.`,
  whole: (lines: number) => `Show all ${lines} lines`,
  tryIt: 'Try it',
  close: 'Close the form',
  body: 'Body of the request',
  headers: (milliseconds: number) => `Headers of the answer, after ${milliseconds} ms`,
  asCurl: 'The same call in curl',
  inQuery: (count: number) =>
    count === 1 ? '1 parameter of the query and headers' : `${count} parameters of the query and headers`,
}
