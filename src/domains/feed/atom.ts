import type { ChangeEntry } from '#schemas/feed.ts'

/** What begins the ids of a service's entries: RFC 4151, which needs a day on which the host was its owner's. */
const TAG_DAY = '2026-11-23'

/** Where the service is for who asks. */
export interface FeedPlace {
  /** The host as it was asked, with its port. */
  host: string
  /** The address of the feed itself. */
  self: string
  /** What the paths of the service begin with. */
  root: string
}

/**
 * A feed of Atom (RFC 4287).
 *
 * @param entries the newest first
 */
export function atomFeed({ host, self, root }: FeedPlace, entries: readonly ChangeEntry[]): string {
  // Tags have no port: it would not be one of the characters that they may have.
  const tag = `tag:${host.replace(/:\d+$/, '').replace(/[^a-zA-Z0-9.-]/g, '-')},${TAG_DAY}:changes`
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

/** What has happened, in a sentence. */
export function sentenceOf({ kind, release, replaced, country_code, level }: ChangeEntry): string {
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
