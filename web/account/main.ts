import { column, workButton } from '../parts/blocks.ts'
import type { Session } from '../parts/session.ts'
import { type Page, startPage } from '../parts/start.ts'
import { element } from '../shell/element.ts'
import { partsThatAreOn } from '../shell/extensions.ts'
import { account } from '../texts/en.ts'
import { besides } from './besides.ts'
import { entrance } from './enter.ts'
import { keysSection } from './keys.ts'
import type { AccountPart } from './part.ts'
import { deletionSection, passwordSection, profileSection, sessionsSection } from './profile.ts'

const PARTS = import.meta.glob<AccountPart>('../extensions/*/account.ts', { eager: true, import: 'part' })

/** The account: the ways in for whom is not logged in, else all that belongs to it. */
async function open(page: Page) {
  const { session } = page
  const user = await session.resume()
  if (!user) return entrance(session)
  return column(
    element(
      'p',
      { class: 'greeting' },
      account.hello(user.name),
      ' ',
      workButton(account.logout, session.logout),
    ),
    besides(session, sectionsOf(page)),
  )
}

/** The core's own, among which extensions place theirs. */
function sectionsOf(page: Page) {
  const own: Record<string, (session: Session) => HTMLElement> = {
    keys: keysSection,
    profile: profileSection,
    password: passwordSection,
    sessions: sessionsSection,
    deletion: deletionSection,
  }
  const parts = partsThatAreOn(PARTS)
  return Object.entries(own).flatMap(([name, section]) => [
    ...parts.filter(({ before }) => before === name).map((part) => part.section(page)),
    section(page.session),
  ])
}

startPage('account', account.title, open)
