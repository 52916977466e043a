import type {
  RecoveryCodes,
  TwoFactorSecret,
  TwoFactorStatus,
} from '#src/extensions/second-factor/schemas.ts'
import { codeOf, PASSWORD } from '../../account/enter.ts'
import type { AccountPart } from '../../account/part.ts'
import { loaded, onRequest, section, shownOnce } from '../../parts/blocks.ts'
import { formOf } from '../../parts/form.ts'
import type { Page } from '../../parts/start.ts'
import { element } from '../../shell/element.ts'
import { account } from '../../texts/en.ts'
import { factor } from './texts.ts'

/** The second factor: set up with an app, turned off with a code of it. */
function secondFactorSection({ session }: Page) {
  const place = loaded(async () => {
    const { enabled, required, recovery_codes } = await session.get<TwoFactorStatus>('auth/two-factor')
    const state = enabled ? factor.on(recovery_codes) : required ? factor.required : factor.off
    const form = enabled ? onRequest(factor.turnOff, offForm()) : onRequest(factor.begin, beginForm())
    return element('div', {}, element('p', {}, state), form)
  })

  function show(...content: (Node | string)[]) {
    place.replaceChildren(...content)
  }

  const code = {
    name: 'totp',
    label: account.code,
    attributes: { autocomplete: 'one-time-code', required: true },
  }

  function beginForm() {
    return formOf({
      fields: [PASSWORD],
      action: factor.begin,
      async submit({ password = '' }) {
        const { secret, uri } = await session.send<TwoFactorSecret>('auth/two-factor', { password })
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
        const { recovery_codes } = await session.send<RecoveryCodes>('auth/two-factor/confirm', {
          totp: totp.trim(),
        })
        show(element('p', {}, factor.recovery), shownOnce(factor.recoveryCodes, recovery_codes.join('\n')))
      },
    })
  }

  function offForm() {
    return formOf({
      fields: [PASSWORD, { ...code, hint: account.codeHint }],
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
