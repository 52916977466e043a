import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ERRORS } from '#src/errors.ts'
import { listenForScrapes } from '#src/http/metrics/listener.ts'
import { openService } from '#test/setup/open-service.ts'
import { type Scrape, scrape } from '#test/setup/scrape.ts'

const FOLDER = resolve(import.meta.dirname, '../../ops/monitoring')

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[]
}

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[]
}

const textOf = (file: string) => readFileSync(join(FOLDER, file), 'utf8')
const alerts = (parse(textOf('alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules)
const panels = (JSON.parse(textOf('dashboard.json')) as Dashboard).panels

const EXPRESSIONS: [string, string][] = [
  ...alerts.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [title, expr])),
]

/** What Prometheus itself says of each target. */
const OF_PROMETHEUS = 'up'

/** Debian's package `prometheus` has it. */
const hasPromtool = !spawnSync('promtool', ['--version']).error
if (!hasPromtool) console.log('promtool is not there: alerts are not tried')

describe('what watches the service', () => {
  const service = openService({
    settings: { METRICS_PORT: '0', SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'noreply@example.org' },
  })
  let scraped: Scrape

  beforeAll(async () => {
    const { port } = (await listenForScrapes(service.app)) as AddressInfo
    const payload = { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth' }
    await service.post('/advisory/yield/point', { payload })
    await service.post('/advisory/yield/point', { payload: {} })
    scraped = await scrape(port)
  })

  test.each(EXPRESSIONS)('%s asks for metrics and labels that there are', (_, expression) => {
    const selectors = [...expression.matchAll(/\b(up|(?:agro|http|nodejs|process)_\w+)(?:\{(.*?)\})?/g)]
    expect(selectors).not.toEqual([])
    for (const [, name = '', labels = ''] of selectors) {
      if (name === OF_PROMETHEUS) continue
      const lines = scraped.text.split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line))
      expect([name, lines.length > 0]).toEqual([name, true])
      for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="(.*?)"/g)) {
        if (label === 'job') continue
        if (label === 'code') expect(Object.keys(ERRORS)).toContain(value)
        else if (label === 'status') expect(lines.some((line) => line.includes('status="'))).toBe(true)
        else expect(lines.some((line) => line.includes(`${label}="${value}"`))).toBe(true)
      }
    }
  })

  test.skipIf(!hasPromtool)('promtool finds nothing to say of a scrape', () => {
    expect(promtool(['check', 'metrics'], scraped.text)).toBe('')
  })
})

describe('alerts', () => {
  test('each of them has an example', () => {
    const { tests } = parse(textOf('alerts.test.yaml')) as { tests: { name: string }[] }
    expect(tests.map(({ name }) => name)).toEqual(alerts.map(({ alert }) => alert))
  })

  test.skipIf(!hasPromtool)('are what Prometheus takes, and fire when their examples say', () => {
    expect(promtool(['check', 'config', 'prometheus.yaml'])).toBe('')
    expect(promtool(['test', 'rules', 'alerts.test.yaml'])).toBe('')
  })

  test.skipIf(!hasPromtool)(
    'do not fire in quiet nights, and see errors behind the checks of a balancer',
    () => {
      expect(promtool(['test', 'rules', 'nights.test.yaml'])).toBe('')
    },
  )
})

function promtool(parameters: string[], input?: string): string {
  const { status, stdout, stderr } = spawnSync('promtool', parameters, {
    cwd: FOLDER,
    input,
    encoding: 'utf8',
  })
  return status === 0 ? '' : `${stdout}${stderr}`
}
