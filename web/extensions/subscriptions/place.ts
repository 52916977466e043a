import { element } from '../../shell/element.ts'
import { subscriptions } from './texts.ts'

/** A browser may cut off longer addresses. */
const LONGEST = 60_000

/**
 * A link to the form for a subscription at a place, filled in. Browsers send no hash.
 *
 * @param wanted as that form reads it
 * @returns none where the place is too much for an address
 */
export function link(wanted: Record<string, string | null | undefined>): HTMLElement | false {
  const said = Object.entries(wanted).filter(([, value]) => value)
  const hash = new URLSearchParams(said as [string, string][]).toString()
  return hash.length <= LONGEST && element('a', { href: `account#${hash}` }, subscriptions.link)
}
