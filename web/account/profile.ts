import type { Session as Login, SessionList } from '#schemas/auth.ts'
import { loaded, section, shownOnce, timeText, workButton } from '../parts/blocks.ts'
import { formOf } from '../parts/form.ts'
import type { Session } from '../parts/session.ts'
import { element } from '../shell/element.ts'
import { account, factor, profile } from '../texts/en.ts'
import { codeOf, newPasswordField, withFreshLogin } from './enter.ts'

export function profileSection(session: Session) {
  const user = session.user()
  const said = element('p', { role: 'status' })
  const form = formOf({
    fields: [
      {
        name: 'name',
        label: account.name,
        attributes: { value: user?.name ?? '', autocomplete: 'name', required: true, maxlength: 200 },
      },
      {
        name: 'organisation',
        label: account.organisation,
        attributes: { value: user?.organisation ?? '', autocomplete: 'organization', maxlength: 200 },
      },
    ],
    action: profile.save,
    async submit({ name = '', organisation = '' }) {
      said.replaceChildren()
      const changes = { name, organisation: organisation === '' ? null : organisation }
      session.changed(await session.send('user/profile', changes, { method: 'PATCH' }))
      said.replaceChildren(profile.saved)
    },
  })
  return section(profile.title, element('p', {}, profile.of(user?.email ?? '')), form, said)
}

export function passwordSection(session: Session) {
  const said = element('p', { role: 'status' })
  const form = formOf({
    fields: [
      {
        name: 'current_password',
        label: profile.currentPassword,
        type: 'password',
        attributes: { autocomplete: 'current-password', required: true },
      },
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
  return section(profile.password, form, said)
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
    fields: [
      {
        name: 'email',
        label: profile.typeEmail,
        type: 'email',
        attributes: { autocomplete: 'off', required: true },
      },
    ],
    action: profile.remove,
    dangerous: true,
    async submit({ email = '' }) {
      const own = session.user()?.email ?? ''
      if (email.trim().toLowerCase() !== own.toLowerCase()) throw new Error(profile.otherEmail(own))
      await withFreshLogin(session, () => session.remove('user/profile'))
      session.forget()
    },
  })
  return section(profile.removeTitle, element('p', {}, profile.removeWhy), form)
}

interface FactorState {
  enabled: boolean
  required: boolean
  recovery_codes: number
}

/** The second factor: set up with an app, turned off with a code of it. Not shown where the service has none. */
export function secondFactorSection(session: Session) {
  const place = loaded(async () => {
    const { enabled, required, recovery_codes } = await session
      .get<FactorState>('auth/two-factor')
      .catch((error) => {
        shown.hidden = error.code === 'NOT_FOUND'
        throw error
      })
    const state = enabled ? factor.on(recovery_codes) : required ? factor.required : factor.off
    return element('div', {}, element('p', {}, state), enabled ? offForm() : beginForm())
  })

  function show(...content: (Node | string)[]) {
    place.replaceChildren(...content)
  }

  const password = {
    name: 'password',
    label: account.password,
    type: 'password',
    attributes: { autocomplete: 'current-password', required: true },
  }
  const code = {
    name: 'totp',
    label: account.code,
    attributes: { autocomplete: 'one-time-code', required: true },
  }

  function beginForm() {
    return formOf({
      fields: [password],
      action: factor.begin,
      async submit(values) {
        const { secret, uri } = await session.send<{ secret: string; uri: string }>('auth/two-factor', {
          password: values.password,
        })
        show(
          element('p', {}, factor.type),
          shownOnce(factor.secret, secret),
          element('p', {}, element('a', { href: uri }, factor.open)),
          confirmForm(),
        )
      },
    })
  }

  function confirmForm() {
    return formOf({
      fields: [code],
      action: factor.confirm,
      async submit({ totp = '' }) {
        const { recovery_codes } = await session.send<{ recovery_codes: string[] }>(
          'auth/two-factor/confirm',
          {
            totp: totp.trim(),
          },
        )
        show(element('p', {}, factor.recovery), shownOnce(factor.recoveryCodes, recovery_codes.join('\n')))
      },
    })
  }

  function offForm() {
    return formOf({
      fields: [password, { ...code, hint: account.codeHint }],
      action: factor.turnOff,
      dangerous: true,
      async submit({ password: given = '', totp = '' }) {
        await session.send('auth/two-factor/disable', { password: given, ...codeOf(totp) })
        await place.reload()
      },
    })
  }

  const shown = section(factor.title, place)
  return shown
}
