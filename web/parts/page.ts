import type { Session } from '../account/session.ts'

/** What an address says of a page; null is left out. */
export type Shown = { [name: string]: string | null }

/** What a page is given. */
export interface Page {
  session: Session
  /** What the address says is shown. */
  view: URLSearchParams
  /** Puts it there, which makes the page anew. */
  remember: (view: Shown) => void
  /** Puts it there, and the page stays as it is. */
  note: (view: Shown) => void
  /** Aborts when another page takes its place. */
  left: AbortSignal
}
