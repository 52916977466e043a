import { expect, test } from 'vitest'
import { type Phase, phasesReport } from '#chaos/phases.ts'

test('each request counts in the phase that it was sent in, and wrong answers as failures', () => {
  const phases: Phase[] = [
    { name: 'the old one alone', from: 1000 },
    { name: 'both', from: 2000 },
  ]
  const asked = { what: 'point', ms: 4.6, status: 200, retryAfter: false, byService: true } as const
  expect(
    phasesReport(phases, [
      { ...asked, at: 1000 },
      { ...asked, at: 1999, ms: 90 },
      { ...asked, at: 2000, status: 503 },
      { ...asked, at: 2500, wrong: '{"x":1}' },
      { ...asked, at: 9000 },
    ]),
  ).toBe(`| while | requests | failed | slowest |
| --- | --- | --- | --- |
| the old one alone | 2 | 0 | 90 ms |
| both | 3 | 2 | 5 ms |`)
})
