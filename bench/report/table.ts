/** A table of the report, for the terminal and for the page. */
export interface Table {
  title: string
  head: string[]
  rows: string[][]
}
