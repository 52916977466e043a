import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import { ApiError } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { documentFormats, JSON_FORMAT, negotiateFormat } from '#src/http/formats.ts'
import { readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { listChangesFrom, listNewestChanges } from './queries.ts'
import { AtomFeed, type ChangeEntry, ChangeFeed, FEED_DEFAULTS, FeedQuery, feedSchemas } from './schemas.ts'

/** What begins the ids of a service's entries: RFC 4151, which needs a day on which the host was its owner's. */
const TAG_DAY = '2026-11-23'

/** A feed of Atom (RFC 4287), the newest entry first; `root` begins the addresses of the service. */
function atomFeed({ self, root }: { self: string; root: string }, entries: readonly ChangeEntry[]): string {
  const tag = `tag:${new URL(root).hostname.replace(/[^a-zA-Z0-9.-]/g, '-')},${TAG_DAY}:changes`
  const updated = entries[0]?.at ?? `${TAG_DAY}T00:00:00.000Z`
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title>Changes of the agricultural advisory service</title>
  <id>${escaped(tag)}</id>
  <updated>${updated}</updated>
  <author><name>Agricultural advisory service</name></author>
  <link rel="self" type="application/atom+xml" href="${escaped(self)}"/>
${entries.map((entry) => entryText(entry, tag, root)).join('')}</feed>
`
}

function entryText(entry: ChangeEntry, tag: string, root: string): string {
  return `  <entry>
    <title>${escaped(sentenceOf(entry))}</title>
    <id>${escaped(`${tag}/${entry.id}`)}</id>
    <updated>${entry.at}</updated>
    <category term="${entry.kind}"/>
    <link rel="alternate" type="application/json" href="${escaped(`${root}/changes?since=${entry.id - 1}&limit=1`)}"/>
    <content type="text">${escaped(JSON.stringify(entry))}</content>
  </entry>
`
}

function sentenceOf({ kind, release, replaced, country_code, level }: ChangeEntry): string {
  if (kind === 'boundaries_loaded')
    return `Boundaries of level ${level} were loaded for ${country_code.toUpperCase()}`
  const inPlaceOf = replaced === null ? '' : ` in the place of ${replaced}`
  if (kind === 'published') return `${release} was published${inPlaceOf}`
  if (kind === 'rolled_back') return `${release} was published again${inPlaceOf}`
  return `${release} was ${kind}`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] as string)
}

const ATOM = {
  name: 'atom',
  mediaType: 'application/atom+xml',
  contentType: 'application/atom+xml; charset=utf-8',
} as const

const FORMATS = [JSON_FORMAT, ATOM]

const DESCRIPTION = `
Publications, rollbacks, withdrawals and deletions of releases, and loads of boundaries, after an entry that the client knows. With the \`next_since\` of the last answer, no entry is missed or repeated. Answers follow an entry within two seconds.

\`format=atom\` or \`Accept: application/atom+xml\` gives the same as a feed for feed readers, the newest entry first; without \`since\` it has the newest of all.

A \`since\` that is larger than any id is refused: it is of another service, or of this one before a backup of it was restored. Begin again without it then.

Ask as often as you like, with the \`ETag\` of the last answer as \`If-None-Match\`: as long as nothing has changed, the answer is a 304 without a body. To be told without asking, subscribe: \`POST /subscriptions\`.`

export async function feed(app: App): Promise<void> {
  for (const schema of feedSchemas) app.addSchema(schema)
  const { reader: db, writer } = app.database

  /** Entries after one. @throws {ApiError} INVALID_PARAMETERS beyond the newest: entries before it would be missed */
  async function changesSince(since: number, limit: number): Promise<ChangeEntry[]> {
    const found = await listChangesFrom(db, since, limit + 1)
    if (found.length > 0 || since === 0) return found.filter(({ id }) => id > since).slice(0, limit)
    // A replica may be behind.
    const [{ id: newest } = { id: 0 }] = await listNewestChanges(writer, 1)
    if (since <= newest) return []
    const rule = `must be at most ${newest}, the id of the newest entry: leave it out and begin again, where a backup was restored`
    throw ApiError.invalid('since', rule)
  }

  async function writeJson(limit: number, since = 0): Promise<string> {
    const found = await changesSince(since, limit + 1)
    const items = found.slice(0, limit)
    return JSON.stringify({ items, next_since: items.at(-1)?.id ?? since, more: found.length > limit })
  }

  async function writeAtom(request: FastifyRequest, since: number | undefined, limit: number) {
    const entries =
      since === undefined ? await listNewestChanges(db, limit) : (await changesSince(since, limit)).reverse()
    const { rootUrl: root, url } = request
    return atomFeed({ self: `${root}${url.slice(app.config.BASE_PATH.length)}`, root }, entries)
  }

  app.get(
    '/changes',
    {
      config: { public: true, caching: 'own', onlyReads: true },
      schema: {
        operationId: 'listChanges',
        summary: 'List changes of published data',
        description: DESCRIPTION.trim(),
        tags: ['catalog'],
        querystring: toQuerySchema(FeedQuery),
        response: {
          200: {
            description: 'The entries.',
            content: documentFormats(FORMATS, { json: ref(ChangeFeed), atom: ref(AtomFeed) }),
          },
          304: { type: 'null', description: 'The answer is the one that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS', 'NOT_ACCEPTABLE'),
        },
      },
      preValidation: readQuery(FeedQuery),
    },
    async (request: FastifyRequest<{ Querystring: Static<typeof FeedQuery> }>, reply: FastifyReply) => {
      const { since, limit = FEED_DEFAULTS.limit, format: named } = request.query
      const { name, contentType } = negotiateFormat(request.exchange, FORMATS, { named })
      const text = name === 'json' ? await writeJson(limit, since) : await writeAtom(request, since, limit)
      if (allowCaching(request.exchange, entityTag(name, text))) return reply.code(304).send()
      return reply.type(contentType).send(text)
    },
  )
}
