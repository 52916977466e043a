import type { Session } from '../account/session.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { formOf } from './form.ts'

/** Does what takes a password that was given lately: where it was not, asks for it and does it again. */
export async function withFreshLogin<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if ((error as { code?: string }).code !== 'REAUTHENTICATION_REQUIRED') throw error
  }
  await askPassword(session)
  return work()
}

/**
 * @returns when the service knows that it is still the same person
 * @throws {Error} where somebody gives it up
 */
function askPassword(session: Session): Promise<void> {
  const { account } = TEXTS
  return new Promise((resolve, reject) => {
    const form = formOf({
      fields: [
        {
          name: 'password',
          label: account.password,
          type: 'password',
          attributes: { autocomplete: 'current-password', required: true },
        },
        {
          name: 'totp',
          label: account.codeIfAny,
          hint: account.codeHint,
          attributes: { autocomplete: 'one-time-code' },
        },
      ],
      action: account.goOn,
      async submit({ password = '', totp = '' }) {
        await session.send('auth/reauthenticate', { password, ...codeOf(totp) })
        resolve()
        dialog.close()
      },
      beside: [
        element('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, account.cancel),
      ],
    })
    const dialog = element(
      'dialog',
      { 'aria-labelledby': 'fresh-login' },
      element('h2', { id: 'fresh-login' }, account.passwordAgain),
      element('p', {}, account.passwordAgainWhy),
      form,
    )
    dialog.addEventListener('close', () => {
      dialog.remove()
      reject(new Error(account.givenUp))
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}

/** What is typed as a code is one of the app, or a recovery code. */
export function codeOf(typed: string) {
  const code = typed.trim()
  if (code === '') return {}
  return /^\d{3} ?\d{3}$/.test(code) ? { totp: code } : { recovery_code: code }
}
