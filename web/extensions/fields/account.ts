import type { FieldCollections, KeptFields } from '#src/extensions/fields/schemas.ts'
import type { AccountPart } from '../../account/part.ts'
import { loaded, onRequest, progressBar, removeButton, section, timeText } from '../../parts/blocks.ts'
import { dropZone, formOf, wrongAt } from '../../parts/form.ts'
import type { Page } from '../../parts/start.ts'
import { numberColumns, tableOf } from '../../parts/table.ts'
import { ApiFailure } from '../../shell/api.ts'
import { element } from '../../shell/element.ts'
import { numberText } from '../../texts/names.ts'
import { savedFields } from './texts.ts'

/** The media types of files by the ends of their names. */
const MEDIA_TYPES: Record<string, string> = {
  geojson: 'application/geo+json',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  geojsons: 'application/geo+json-seq',
  csv: 'text/csv',
}

/** The collections of fields: made from files, shown, deleted. */
function fieldsSection({ session, left }: Page) {
  const result = element('div', { 'aria-live': 'polite' })
  let stored: FieldCollections | undefined
  const list = loaded(async () => {
    stored = await session.get<FieldCollections>('fields')
    const { items, fields, most_fields, bytes, most_bytes } = stored
    return element(
      'div',
      {},
      items.length === 0
        ? element('p', {}, savedFields.none)
        : element('ul', { class: 'items' }, ...items.map(itemOf)),
      element(
        'p',
        { class: 'small' },
        savedFields.quota(
          numberText(fields),
          numberText(most_fields),
          bytesText(bytes),
          bytesText(most_bytes),
        ),
      ),
    )
  })

  function itemOf({ collection, fields, changed_at }: FieldCollections['items'][number]) {
    return element(
      'li',
      { class: 'item' },
      element('strong', {}, element('a', { href: pathOf(collection) }, collection)),
      element('span', {}, savedFields.count(fields)),
      element('span', {}, savedFields.changedAt(timeText(changed_at))),
      removeButton(
        savedFields.removeNamed(collection),
        savedFields.removeSure(collection, savedFields.count(fields)),
        async () => {
          await session.remove(`fields/${collection}`)
          result.replaceChildren()
          await list.reload()
        },
      ),
    )
  }

  async function keep(collection: string, file: File) {
    const same = stored?.items.find((one) => one.collection === collection)
    if (same && !confirm(savedFields.replaceSure(collection, savedFields.count(same.fields)))) return
    const stopped = new AbortController()
    const signal = AbortSignal.any([left, stopped.signal])
    const bar = progressBar({
      label: savedFields.sending,
      most: file.size,
      text: (sent) =>
        sent < file.size ? savedFields.sent(bytesText(sent), bytesText(file.size)) : savedFields.beingRead,
      stop: () => stopped.abort(),
    })
    result.replaceChildren(bar.place)
    const headers = { 'content-type': mediaTypeOf(file) }
    const path = `fields/${encodeURIComponent(collection)}`
    try {
      const answer = await session.send<KeptFields>(path, file, {
        ...{ method: 'PUT', headers, signal },
        // The head of the request counts, too, in some browsers.
        onSent: (bytes) => bar.set(Math.min(bytes, file.size)),
      })
      result.replaceChildren(describeUpload(answer))
    } catch (error) {
      result.replaceChildren()
      throw stopped.signal.aborted ? new Error(savedFields.stopped) : error
    }
    await list.reload()
  }

  return section(
    savedFields.title,
    element('p', {}, savedFields.why),
    list,
    onRequest(
      savedFields.add,
      keepForm(keep, () => stored?.most_bytes ?? Number.POSITIVE_INFINITY),
    ),
    result,
  )
}

export const part: AccountPart = { before: 'keys', section: fieldsSection }

/** @param mostBytes of a file */
function keepForm(keep: (collection: string, file: File) => Promise<void>, mostBytes: () => number) {
  let file: File | undefined
  const form = formOf({
    fields: [
      {
        name: 'collection',
        label: savedFields.name,
        hint: savedFields.nameHint,
        attributes: { maxlength: 100, autocomplete: 'off' },
      },
    ],
    action: savedFields.keep,
    async submit({ collection = '' }) {
      if (!file) throw wrongAt('file', savedFields.noFile)
      const name = collection.trim()
      if (name === '') throw wrongAt('collection', savedFields.noName)
      await keep(name, file).catch((error) => {
        throw isOfFile(error) ? wrongAt('file', error.message) : error
      })
    },
  })
  const name = form.elements.namedItem('collection') as HTMLInputElement
  const zone = dropZone(
    savedFields.drop,
    Object.keys(MEDIA_TYPES)
      .map((end) => `.${end}`)
      .join(),
    async (dropped) => {
      file = undefined
      if (!mediaTypeOf(dropped)) throw new Error(savedFields.otherFile)
      if (dropped.size > mostBytes()) throw new Error(savedFields.tooLarge(bytesText(mostBytes())))
      file = dropped
      if (name.value === '') name.value = nameIn(dropped)
      return savedFields.taken(dropped.name, bytesText(dropped.size))
    },
  )
  form.prepend(zone)
  return form
}

/** Whether a file was read, and refused. */
const isOfFile = (error: unknown) =>
  error instanceof ApiFailure &&
  [400, 413, 415].includes(error.status) &&
  !error.details.some(({ field }) => field === 'collection')

const mediaTypeOf = ({ name }: File) => MEDIA_TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? ''

/** A name for a collection from that of a file, as the service takes it. */
const nameIn = ({ name }: File) =>
  name
    .replace(/\.[^.]*$/, '')
    .replaceAll(/[^A-Za-z0-9._~-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100)

/** The outcome of a file: how many fields are stored, and a table of the others. */
function describeUpload({ collection, fields, refused, refusals }: KeptFields) {
  const { columns } = savedFields
  const table = tableOf({
    caption: savedFields.refusedCaption,
    columns: [...numberColumns(columns.row), { title: columns.id }, { title: columns.reason }],
    rows: refusals.map(({ row, id, error }) => ({ cells: [row, id, error] })),
    rowsAPage: 25,
  })
  return element(
    'div',
    {},
    element(
      'p',
      {},
      savedFields.kept(numberText(fields), numberText(refused)),
      ' ',
      element('a', { href: pathOf(collection) }, savedFields.open(collection)),
    ),
    refused > refusals.length && element('p', {}, savedFields.first(numberText(refusals.length))),
    refused > 0 && table,
  )
}

const pathOf = (collection: string) => `account/fields#${new URLSearchParams({ collection })}`

/** How large files are, in the unit of which they have one at least. */
const bytesText = (bytes: number) => {
  const [unit, length] = bytes < 1e6 ? (['kB', 1e3] as const) : (['MB', 1e6] as const)
  return `${numberText(Number((bytes / length).toPrecision(bytes < 100 * length ? 2 : 3)))} ${unit}`
}
