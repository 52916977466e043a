import type { Catalog } from '../api-types.ts'
import type { Page } from '../parts/start.ts'

/** What an extension has in the page of admins. */
export type OperationsPart = (
  page: Page,
  catalog: Catalog,
) => {
  place: HTMLElement
  /** What can be done there with a release that is chosen in the list. */
  actionsOf?(release: string): HTMLElement[]
}
