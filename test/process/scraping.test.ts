import type { MetricObject } from 'prom-client'
import { expect, test } from 'vitest'
import { createScraping, type Scraping } from '#src/primary.ts'
import type { Member } from '#src/workers.ts'

/** A counter and a gauge as a worker sends them. */
const metricsOf = (answers: number, tiles: number): MetricObject[] =>
  [
    {
      name: 'answers_total',
      help: 'x',
      type: 'counter',
      aggregator: 'sum',
      values: [{ value: answers, labels: {} }],
    },
    { name: 'tiles', help: 'x', type: 'gauge', aggregator: 'sum', values: [{ value: tiles, labels: {} }] },
  ] as unknown as MetricObject[]

/** Workers that answer a scrape with so many answers, and one tile each. */
function createWorkers(answers: number[]): { members: Member[]; scraping: Scraping } {
  const members: Member[] = []
  const scraping = createScraping({
    ready: () => members,
    hanging: () => 0,
    killed: () => 0,
    replaced: () => 0,
  })
  for (const [index, count] of answers.entries()) {
    const member: Member = {
      number: index + 1,
      isReady: true,
      beats: 0,
      tell: ({ kind }) => void (kind === 'scrape' && scraping.answered(member, metricsOf(count, 1))),
      take() {},
      kill() {},
      ended: new Promise(() => {}),
    }
    members.push(member)
  }
  return { members, scraping }
}

const valuesIn = (text: string) => text.split('\n').filter((line) => /^(answers_total|tiles) /.test(line))

test('workers that end together leave all that they have counted, and nothing that they held', async () => {
  const { members, scraping } = createWorkers([1, 20, 300, 4000])
  expect(valuesIn(await scraping.read())).toEqual(['answers_total 4321', 'tiles 4'])
  for (const member of members.splice(0, 3)) scraping.left(member)
  expect(valuesIn(await scraping.read())).toEqual(['answers_total 4321', 'tiles 1'])
  for (const member of members.splice(0)) scraping.left(member)
  expect(valuesIn(await scraping.read())).toEqual(['answers_total 4321'])
})
