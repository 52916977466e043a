import type { SubscriptionAnswer } from '#src/extensions/subscriptions/schemas.ts'
import type { AccountPart } from '../../account/part.ts'
import type { Catalog } from '../../api-types.ts'
import {
  loaded,
  onRequest,
  removeButton,
  section,
  shownOnce,
  timeText,
  workButton,
} from '../../parts/blocks.ts'
import { newName } from '../../parts/session.ts'
import type { Page } from '../../parts/start.ts'
import { element } from '../../shell/element.ts'
import { nameOfMonth, nameOfProduct } from '../../texts/names.ts'
import { subscriptionForm } from './form.ts'
import { subscriptions } from './texts.ts'

/**
 * Where changes are sent to: made here, with a secret that is shown once, renewed, enabled again and deleted.
 *
 * @param page of which the address may say what is wanted
 */
function subscriptionsSection({ session, view, note, left }: Page) {
  const secret = element('div', { 'aria-live': 'polite' })
  const list = loaded(async () => {
    const items = (await session.get<{ items: SubscriptionAnswer[] }>('subscriptions')).items
    if (items.length === 0) return element('p', {}, subscriptions.none)
    return element('ul', { class: 'items' }, ...items.map(itemOf))
  })

  function itemOf(subscription: SubscriptionAnswer) {
    const { id, threshold, unit, url, status, delivered_at } = subscription
    const name = nameOf(subscription)
    const path = `subscriptions/${id}`
    return element(
      'li',
      { class: 'item' },
      element('strong', {}, name),
      element('span', {}, whatOf(subscription)),
      element('span', {}, subscriptions.by(threshold.value, threshold.kind === 'relative' ? '%' : unit)),
      element('code', {}, url),
      element('span', {}, stateText(subscription)),
      element('span', {}, subscriptions.delivered(timeText(delivered_at))),
      status === 'disabled' &&
        workButton(subscriptions.enable, () => enable(path), {
          'aria-label': subscriptions.enableNamed(name),
        }),
      workButton(subscriptions.renew, () => renew(path, name), {
        'aria-label': subscriptions.renewNamed(name),
      }),
      removeButton(subscriptions.removeNamed(name), subscriptions.removeSure(name), async () => {
        await session.remove(path)
        secret.replaceChildren()
        await list.reload()
      }),
    )
  }

  async function enable(path: string) {
    await session.send(`${path}/enable`, {})
    await list.reload()
  }

  async function renew(path: string, name: string) {
    const headers = { 'idempotency-key': newName() }
    const answer = await session.send<{ secret: string }>(`${path}/secret`, {}, { headers })
    showSecret(subscriptions.renewed, name, answer.secret)
  }

  function showSecret(why: string, name: string, text: string) {
    secret.replaceChildren(element('p', {}, why), shownOnce(subscriptions.secretOf(name), text))
  }

  const form = loaded(async () => {
    const catalog = await session.get<Catalog>('catalog')
    // A link to the form leads to it, once it stands.
    if (view.toString() !== '') requestAnimationFrame(() => heading?.focus())
    return subscriptionForm(session, catalog, { view, left }, async (made) => {
      // Opened again, the page does not ask for the same once more.
      note({})
      showSecret(subscriptions.once, nameOf(made), made.secret)
      await list.reload()
    })
  })
  const fold = onRequest(subscriptions.make, form, view.toString() !== '')
  const place = section(subscriptions.title, element('p', {}, subscriptions.why), list, secret, fold)
  const heading = place.querySelector('h3')
  heading?.setAttribute('tabindex', '-1')
  return place
}

export const part: AccountPart = { before: 'profile', section: subscriptionsSection }

function nameOf({ name, product, place }: SubscriptionAnswer) {
  return name || subscriptions.of([nameOfProduct(product)], placeText(place))
}

function whatOf({ product, country_code, crop, forecast_month, input, scenario, place }: SubscriptionAnswer) {
  const month = forecast_month && nameOfMonth(forecast_month)
  return subscriptions.of(
    [nameOfProduct(product), country_code, crop, month, input, scenario],
    placeText(place),
  )
}

function placeText({ type, lat = 0, lng = 0, code = '', collection = '' }: SubscriptionAnswer['place']) {
  if (type === 'point') return subscriptions.at(lat, lng)
  if (type === 'fields') return subscriptions.fields(collection)
  return type === 'area' ? subscriptions.area(code) : subscriptions.polygon
}

function stateText({ status, disabled_reason, failing_since }: SubscriptionAnswer) {
  if (status === 'disabled')
    return subscriptions.disabled[disabled_reason ?? ''] ?? subscriptions.disabledOtherwise
  return failing_since === null ? subscriptions.active : subscriptions.failing(timeText(failing_since))
}
