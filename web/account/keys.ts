import type { ApiKey, ApiKeyList, NewApiKey } from '#schemas/keys.ts'
import { loaded, onRequest, removeButton, section, shownOnce, timeText } from '../parts/blocks.ts'
import { formOf } from '../parts/form.ts'
import { newName, type Session } from '../parts/session.ts'
import { element } from '../shell/element.ts'
import { keys } from '../texts/en.ts'
import { withFreshLogin } from './enter.ts'

/** The keys for servers: made here, shown once, deleted. */
export function keysSection(session: Session) {
  const made = element('div', { 'aria-live': 'polite' })
  const list = loaded(async () =>
    listOf(session, (await session.get<ApiKeyList>('auth/keys')).items, () => list.reload()),
  )
  return section(
    keys.title,
    element('p', {}, keys.why),
    list,
    made,
    onRequest(
      keys.make,
      keyForm(session, made, () => list.reload()),
    ),
  )
}

function listOf(session: Session, items: ApiKey[], reload: () => Promise<void>) {
  if (items.length === 0) return element('p', {}, keys.none)
  const rows = items.map(({ id, name, hint, scopes, expires_at, last_used_at, usage }) =>
    element(
      'li',
      { class: 'item' },
      element('strong', {}, name),
      element('code', {}, `${hint}…`),
      element('span', {}, keys.may(scopes.map((scope) => keys.scopes[scope] ?? scope))),
      element('span', {}, keys.used(timeText(last_used_at), total(usage))),
      element('span', {}, expires_at === null ? keys.noEnd : keys.ends(timeText(expires_at))),
      removeButton(keys.removeNamed(name), keys.removeSure(name), async () => {
        await session.remove(`auth/keys/${id}`)
        await reload()
      }),
    ),
  )
  return element('ul', { class: 'items' }, ...rows)
}

function total(usage: ApiKey['usage']) {
  return usage.reduce((sum, { requests }) => sum + requests, 0)
}

function keyForm(session: Session, made: HTMLElement, reload: () => Promise<void>) {
  const scopes = ['advisory', 'history', 'account', ...(session.user()?.role === 'admin' ? ['admin'] : [])]
  // Of one key that is wanted, however often its request is sent.
  let request = newName()
  return formOf({
    fields: [
      { name: 'name', label: keys.name, hint: keys.nameHint, attributes: { required: true, maxlength: 100 } },
      {
        name: 'expires_in_days',
        label: keys.days,
        hint: keys.daysHint,
        type: 'number',
        attributes: { min: 1, max: 3650 },
      },
      ...scopes.map((scope) => ({
        name: scope,
        label: keys.scopes[scope] ?? scope,
        type: 'checkbox',
        attributes: { checked: ['advisory', 'history'].includes(scope) },
      })),
    ],
    action: keys.make,
    async submit({ name = '', expires_in_days = '', ...ticked }) {
      const wanted = {
        name,
        ...(expires_in_days !== '' && { expires_in_days: Number(expires_in_days) }),
        scopes: scopes.filter((scope) => ticked[scope] === 'on'),
      }
      const { key } = await withFreshLogin(session, () =>
        session.send<NewApiKey>('auth/keys', wanted, { headers: { 'idempotency-key': request } }),
      )
      request = newName()
      made.replaceChildren(element('p', {}, keys.once), shownOnce(keys.made(name), key))
      await reload()
    },
  })
}
