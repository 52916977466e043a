import { type Field, formOf } from '../parts/form.ts'
import { newName, type Session } from '../parts/session.ts'
import { send, whileBusy } from '../shell/api.ts'
import { button, element } from '../shell/element.ts'
import { account } from '../texts/en.ts'

export const EMAIL = {
  name: 'email',
  label: account.email,
  type: 'email',
  attributes: { autocomplete: 'username', required: true, maxlength: 254 },
}

export const NAME = {
  name: 'name',
  label: account.name,
  attributes: { autocomplete: 'name', required: true, maxlength: 200 },
}

export const ORGANISATION = {
  name: 'organisation',
  label: account.organisation,
  attributes: { autocomplete: 'organization', maxlength: 200 },
}

const TOKEN = { name: 'token', label: account.token, attributes: { autocomplete: 'off', required: true } }

/** The one that somebody has. */
export const PASSWORD = {
  name: 'password',
  label: account.password,
  type: 'password',
  attributes: { autocomplete: 'current-password', required: true },
}

/** Of the second factor. */
const CODE = { hint: account.codeHint, attributes: { autocomplete: 'one-time-code' } }

type Way = 'login' | 'register' | 'confirm' | 'forgotten' | 'reset'

const head = (title: string, why?: string) => [
  element('h2', { tabindex: -1 }, title),
  ...(why === undefined ? [] : [element('p', {}, why)]),
]

/**
 * The ways in: log in, make an account, choose a new password.
 *
 * @param why what is asked for that takes an account
 * @param entered called when somebody is logged in
 */
export function entrance(session: Session, why?: string, entered: () => void = () => {}): HTMLElement {
  const place = element('section', { class: 'card narrow' })
  const ways: Record<Way, () => HTMLElement[]> = {
    login: () => [
      ...head(account.login, why),
      loginForm(session, entered),
      others({ register: account.register, forgotten: account.forgotten }),
    ],
    register: () => [
      ...head(account.register),
      registration(session, show, entered),
      others({ login: account.haveAccount }),
    ],
    confirm: () => [
      ...head(account.confirmTitle, account.confirmWhy),
      confirmation(show),
      others({ login: account.login }),
    ],
    forgotten: () => [
      ...head(account.forgotten, account.forgottenWhy),
      forgottenForm(show),
      others({ login: account.login, reset: account.haveToken }),
    ],
    reset: () => [...head(account.newPassword), resetForm(show), others({ login: account.login })],
  }

  function show(way: Way) {
    place.replaceChildren(...ways[way]())
    place.querySelector('h2')?.focus()
  }

  function others(labels: Partial<Record<Way, string>>) {
    const buttons = Object.entries(labels).map(([way, label]) =>
      button(label, () => show(way as Way), 'link'),
    )
    return element('p', { class: 'actions' }, ...buttons)
  }

  place.replaceChildren(...ways.login())
  return place
}

function loginForm(session: Session, entered: () => void) {
  const form: HTMLFormElement = formOf({
    fields: [EMAIL, PASSWORD, { name: 'code', label: account.code, ...CODE }],
    action: account.login,
    async submit({ email = '', password = '', code = '' }) {
      try {
        await session.login({ email, password, ...codeOf(code) })
      } catch (error) {
        if ((error as { code?: string }).code === 'TWO_FACTOR_REQUIRED') askCode()
        throw error
      }
      entered()
    },
  })
  const code = form.elements.namedItem('code') as HTMLInputElement
  const row = code.parentElement as HTMLElement
  row.hidden = true
  function askCode() {
    row.hidden = false
    code.focus()
  }
  return form
}

function registration(session: Session, show: (way: Way) => void, entered: () => void) {
  const name = newName()
  return formOf({
    fields: [NAME, ORGANISATION, EMAIL, newPasswordField('password')],
    action: account.register,
    async submit({ name: called = '', organisation = '', email = '', password = '' }) {
      const wanted = { name: called, email, password, ...(organisation !== '' && { organisation }) }
      const headers = { 'idempotency-key': name }
      await whileBusy(() => send('auth/register', wanted, { headers }))
      try {
        await session.login({ email, password })
      } catch (error) {
        // The e-mail has to be confirmed first, where the service asks for that.
        if ((error as { code?: string }).code !== 'INVALID_CREDENTIALS') throw error
        return show('confirm')
      }
      entered()
    },
  })
}

function confirmation(show: (way: Way) => void) {
  return formOf({
    fields: [
      TOKEN,
      { ...PASSWORD, hint: account.confirmPasswordHint, attributes: { autocomplete: 'current-password' } },
    ],
    action: account.confirm,
    async submit({ token = '', password = '' }) {
      await send('auth/confirm', { token: token.trim(), ...(password !== '' && { password }) })
      show('login')
    },
  })
}

function forgottenForm(show: (way: Way) => void) {
  return formOf({
    fields: [EMAIL],
    action: account.sendMail,
    async submit({ email = '' }) {
      await send('auth/password/forgot', { email })
      show('reset')
    },
  })
}

function resetForm(show: (way: Way) => void) {
  return formOf({
    fields: [TOKEN, newPasswordField('password')],
    action: account.changePassword,
    async submit({ token = '', password = '' }) {
      await send('auth/password/reset', { token: token.trim(), password })
      show('login')
    },
  })
}

export function newPasswordField(name: string): Field {
  return {
    name,
    label: account.newPassword,
    hint: account.passwordHint,
    type: 'password',
    attributes: { autocomplete: 'new-password', required: true, minlength: 10, maxlength: 256 },
  }
}

/**
 * Has somebody log in before the work goes on; at once where somebody is logged in.
 *
 * @returns whether somebody is logged in now
 */
export async function loginFirst(session: Session, why: string): Promise<boolean> {
  if (await session.resume()) return true
  await inDialog({ 'aria-label': account.login }, (close) => [
    entrance(session, why, close),
    button(account.cancel, close),
  ])
  return session.user() !== null
}

/** Shows something above the page until it is closed. */
function inDialog(properties: Record<string, string>, content: (close: () => void) => HTMLElement[]) {
  const dialog = element('dialog', properties)
  dialog.append(...content(() => dialog.close()))
  document.body.append(dialog)
  return new Promise<void>((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve()
    })
    dialog.showModal()
  })
}

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
async function askPassword(session: Session): Promise<void> {
  let isKnown = false
  await inDialog({ 'aria-labelledby': 'fresh-login' }, (close) => [
    element('h2', { id: 'fresh-login' }, account.passwordAgain),
    element('p', {}, account.passwordAgainWhy),
    formOf({
      fields: [PASSWORD, { name: 'totp', label: account.codeIfAny, ...CODE }],
      action: account.goOn,
      async submit({ password = '', totp = '' }) {
        await session.send('auth/reauthenticate', { password, ...codeOf(totp) })
        isKnown = true
        close()
      },
      beside: [button(account.cancel, close)],
    }),
  ])
  if (!isKnown) throw new Error(account.givenUp)
}

/** A typed code is one of the app, or a recovery code. */
export function codeOf(typed: string) {
  const code = typed.trim()
  if (code === '') return {}
  return /^\d{3} ?\d{3}$/.test(code) ? { totp: code } : { recovery_code: code }
}
