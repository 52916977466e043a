import type { Session as Login, SessionList } from '#schemas/auth.ts'
import { loaded, onRequest, section, timeText, workButton } from '../parts/blocks.ts'
import { formOf } from '../parts/form.ts'
import type { Session } from '../parts/session.ts'
import { element } from '../shell/element.ts'
import { account, profile } from '../texts/en.ts'
import { EMAIL, NAME, newPasswordField, ORGANISATION, PASSWORD, withFreshLogin } from './enter.ts'

export function profileSection(session: Session) {
  const user = session.user()
  const said = element('p', { role: 'status' })
  const form = formOf({
    fields: [
      { ...NAME, value: user?.name },
      { ...ORGANISATION, value: user?.organisation ?? '' },
    ],
    action: profile.save,
    async submit({ name = '', organisation = '' }) {
      said.replaceChildren()
      const changes = { name, organisation: organisation === '' ? null : organisation }
      session.changed(await session.send('user/profile', changes, { method: 'PATCH' }))
      said.replaceChildren(profile.saved)
    },
  })
  return section(
    profile.title,
    element('p', {}, profile.of(user?.email ?? '')),
    onRequest(profile.change, form),
    said,
  )
}

export function passwordSection(session: Session) {
  const said = element('p', { role: 'status' })
  const form = formOf({
    fields: [
      { ...PASSWORD, name: 'current_password', label: profile.currentPassword },
      newPasswordField('new_password'),
      { name: 'end_keys', label: profile.endKeys, type: 'checkbox' },
    ],
    action: account.changePassword,
    async submit({ current_password = '', new_password = '', end_keys }) {
      said.replaceChildren()
      await session.send('auth/password', { current_password, new_password, end_keys: end_keys === 'on' })
      form.reset()
      said.replaceChildren(profile.passwordChanged)
    },
  })
  return section(account.password, onRequest(account.changePassword, form), said)
}

/** Where somebody is logged in. */
export function sessionsSection(session: Session) {
  const list: ReturnType<typeof loaded> = loaded(async () => {
    const items = (await session.get<SessionList>('auth/sessions')).items
    return element('ul', { class: 'items' }, ...items.map(itemOf))
  })

  function itemOf({ id, created_at, last_used_at, network, user_agent, current }: Login) {
    const name = user_agent ?? profile.unknownBrowser
    const end = async () => {
      await session.remove(`auth/sessions/${id}`)
      await list.reload()
    }
    return element(
      'li',
      { class: 'item' },
      element('strong', {}, current ? profile.thisOne : profile.usedAt(timeText(last_used_at))),
      element('span', {}, name),
      element('span', {}, profile.since(timeText(created_at), network ?? profile.unknownNetwork)),
      !current && workButton(profile.end, end, { 'aria-label': profile.endNamed(timeText(last_used_at)) }),
    )
  }

  const others = workButton(profile.endOthers, async () => {
    await session.remove('auth/sessions')
    await list.reload()
  })
  return section(profile.sessions, list, others)
}

/** The end of the account, which its e-mail has to be typed for. */
export function deletionSection(session: Session) {
  const form = formOf({
    fields: [{ ...EMAIL, label: profile.typeEmail, attributes: { autocomplete: 'off', required: true } }],
    action: profile.remove,
    dangerous: true,
    async submit({ email = '' }) {
      const own = session.user()?.email ?? ''
      if (email.trim().toLowerCase() !== own.toLowerCase()) throw new Error(profile.otherEmail(own))
      await withFreshLogin(session, () => session.remove('user/profile'))
      session.forget()
    },
  })
  return section(profile.removeTitle, element('p', {}, profile.removeWhy), onRequest(profile.remove, form))
}
