import { workButton } from '../parts/blocks.ts'
import type { Page } from '../parts/start.ts'
import { startPage } from '../parts/start.ts'
import { element } from '../shell/element.ts'
import { account, history, operations } from '../texts/en.ts'
import { entrance } from './enter.ts'
import { fieldsSection } from '../extensions/fields/account.ts'
import { keysSection } from './keys.ts'
import {
  deletionSection,
  passwordSection,
  profileSection,
  secondFactorSection,
  sessionsSection,
} from './profile.ts'
import { subscriptionsSection } from '../extensions/subscriptions/account.ts'

/** The account: the ways in for whom is not logged in, else all that belongs to it. */
async function open(page: Page) {
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
      element('a', { href: 'account/history' }, history.title),
      user.role === 'admin' && element('a', { href: 'operations' }, operations.title),
    ),
    fieldsSection(page),
    keysSection(session),
    subscriptionsSection(page),
    profileSection(session),
    passwordSection(session),
    secondFactorSection(session),
    sessionsSection(session),
    deletionSection(session),
  )
}

startPage('account', account.title, open)
