import { workButton } from '../parts/blocks.js'
import { element } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'
import { entrance } from './enter.js'
import { keysSection } from './keys.js'
import { deletionSection, passwordSection, profileSection, sessionsSection } from './profile.js'
import { secondFactorSection } from './second-factor.js'
import { subscriptionsSection } from './subscriptions.js'

const { account } = TEXTS

/**
 * The account: the ways in for whom is not logged in, else all that belongs to it.
 *
 * @param {import('../parts/page.js').Page} page
 */
export async function open(page) {
  const { session } = page
  const user = await session.resume()
  if (!user) return entrance(session)
  return element(
    'div',
    { class: 'column' },
    element(
      'p',
      { class: 'greeting' },
      account.hello(user.name),
      ' ',
      workButton(account.logout, session.logout),
    ),
    element(
      'p',
      { class: 'actions' },
      element('a', { href: 'account/history' }, TEXTS.history.title),
      user.role === 'admin' && element('a', { href: 'operations' }, TEXTS.operations.title),
    ),
    keysSection(session),
    subscriptionsSection(page),
    profileSection(session),
    passwordSection(session),
    secondFactorSection(session),
    sessionsSection(session),
    deletionSection(session),
  )
}
