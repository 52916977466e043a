import type { FastifyReply } from 'fastify'
import { type Cell, code, type Html, paragraph, sendPage, table } from '#src/http/plain-page.ts'
import { type Citation, commandOf } from './citation.ts'
import type { RecordedAnswer } from './recorded-answer.ts'

/** Shows a citation to people. */
export function sendCitation(reply: FastifyReply, citation: Citation): FastifyReply {
  const { product, answer, answered_at, url, releases, verify } = citation
  const { location } = answer as unknown as RecordedAnswer
  return sendPage(reply, {
    title: `${product === 'all' ? 'Advice' : product}: ${location.name}`,
    above: [],
    parts: [
      paragraph(
        `At latitude ${location.lat}, longitude ${location.lng}, as answered at ${answered_at}. Its owner shared it.`,
      ),
      ...Object.entries(answer).flatMap(([name, part]) => sectionOf(name, part)),
      table(
        ['release', 'state', 'source', 'licence', 'checksum'],
        releases.map(({ release, state, source, licence, checksum }) => [
          release,
          state,
          source,
          licence,
          checksum,
        ]),
      ),
      ...(verify
        ? [
            paragraph(
              `The releases that are named say the same as long as they are there. This prints ${verify.sha256}:`,
            ),
            code(commandOf(verify)),
          ]
        : []),
    ],
    links: [{ href: url, rel: 'cite-as', title: url }],
  })
}

/** The entries of a product as a table; of all products, those of each. */
function sectionOf(name: string, part: unknown): Html[] {
  if (Array.isArray(part) && part.length > 0 && name.endsWith('_data')) return [tableOf(part)]
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return []
  return Object.entries(part).flatMap(([inner, entries]) =>
    Array.isArray(entries) && inner.endsWith('_data') && entries.length > 0 ? [tableOf(entries)] : [],
  )
}

function tableOf(entries: Record<string, unknown>[]): Html {
  const isCell = (value: unknown): value is Cell => value === null || typeof value !== 'object'
  const columns = Object.entries(entries[0] ?? {})
    .filter(([, value]) => isCell(value))
    .map(([column]) => column)
  return table(
    columns,
    entries.map((entry) => columns.map((column) => entry[column] as Cell)),
  )
}
