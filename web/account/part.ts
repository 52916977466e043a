import type { Page } from '../parts/start.ts'

/** What an extension has in the page of an account. */
export interface AccountPart {
  /** The section of the core that it stands above. */
  before: 'keys' | 'profile' | 'password' | 'sessions' | 'deletion'
  section(page: Page): HTMLElement
}
