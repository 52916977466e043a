import { codeOf } from '../../account/enter.ts'
import type { AccountPart } from '../../account/part.ts'
import { loaded, onRequest, section, shownOnce } from '../../parts/blocks.ts'
import { formOf } from '../../parts/form.ts'
import type { Page } from '../../parts/start.ts'
import { element } from '../../shell/element.ts'
import { account } from '../../texts/en.ts'
import { factor } from './texts.ts'

interface FactorState {
  enabled: boolean
  required: boolean
  recovery_codes: number
}

/** The second factor: set up with an app, turned off with a code of it. */
function secondFactorSection({ session }: Page) {
  const place = loaded(async () => {
    const { enabled, required, recovery_codes } = await session.get<FactorState>('auth/two-factor')
    const state = enabled ? factor.on(recovery_codes) : required ? factor.required : factor.off
    const form = enabled ? onRequest(factor.turnOff, offForm()) : onRequest(factor.begin, beginForm())
    return element('div', {}, element('p', {}, state), form)
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

  return section(factor.title, place)
}

export const part: AccountPart = { before: 'sessions', section: secondFactorSection }
