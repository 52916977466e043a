import type { OpenAPIV3_1 } from 'openapi-types'
import type { Locator, Page, Route } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { createMailingApp, tokenIn } from '#test/accounts/mails.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { documentOf, type Operation, operationsOf } from '#test/setup/document.ts'
import type { ReceivedMail } from '#test/setup/mail-server.ts'
import { expectState } from '#test/setup/page-state.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'
import { DESKTOP, HEADINGS, openPages, seriousFindings } from '#test/web/pages.ts'
import { createResolver } from '../../../web/docs/document.ts'

/**
 * What a visitor executes: operations that want what an answer before has given, of each sort, and a body of several
 * types. `document-answers.test.ts` sends the examples of all operations.
 */
const VISIT = [
  ...['register', 'confirmEmail', 'login', 'refresh'],
  ...['yieldAtPoint', 'yieldAtPoints', 'getHistoryItem', 'shareHistoryItem', 'getCitation'],
  ...['createKey', 'deleteKey', 'changePassword', 'listSessions', 'endSession', 'login', 'deleteProfile'],
]

/** The page with the document of all operations, as its chooser writes it. */
const WHOLE = '?urls.primaryName=All+operations'

let page: Page
let url: string
let operations: Operation[]
let newestMail: () => ReceivedMail | undefined

describe.skipIf(!CHROMIUM)('the page of the documentation, in a browser', () => {
  const { service, visitors, visit } = openPages(
    () => createMailingApp({ template: 'demo', settings: { EMAIL_CONFIRMATION: 'required' } }),
    '/docs',
  )
  beforeAll(async () => {
    page = visit.page
    url = `${visitors.url}/docs`
    operations = operationsOf(await documentOf(service.app, 'all')).map(({ operation }) => operation)
    newestMail = () => service.mailServer.mails.at(-1)
  })

  test('opens the points, and its chooser has the other documents', async () => {
    await page.locator('.opblock').first().waitFor()
    const points = (await service.get('/openapi/points.json')).body
    const shownPaths = await page
      .locator('.opblock-summary-path')
      .evaluateAll((all) => all.map((path) => path.dataset.path))
    expect(new Set(shownPaths)).toEqual(new Set(Object.keys(points.paths)))
    await expectState(page.locator('.topbar'), 'documents')
    await expectState(page.getByRole('region', { name: 'First calls' }), 'first-calls')
  })

  test('keeps the token where another document is chosen', async () => {
    const { headers } = await newPerson(service.app)
    await page.locator('.btn.authorize').click()
    await page.locator('.auth-container input').fill(headers.authorization.replace('Bearer ', ''))
    await page.locator('.auth-container').getByRole('button', { name: 'Apply credentials' }).click()
    await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).click()
    await page.locator('.topbar select').selectOption({ index: 1 })
    const block = page.locator('#operations-advisory-yieldInPolygon')
    await block.locator('.opblock-summary-control').click()
    expect(await page.locator('#operations-advisory-yieldAtPoint').count()).toBe(0)
    await block.getByRole('button', { name: 'Execute' }).click()
    expect(await statusIn(block)).toBe('200')
  })

  test('finds operations by words of their paths and summaries, in tags that are closed, too', async () => {
    const box = page.getByRole('searchbox', { name: 'Find an operation' })
    await box.fill('change PASSWORD')
    await page.locator('#operations-auth-changePassword').waitFor()
    expect(await page.locator('.opblock').count()).toBe(1)
    await box.fill('')
    await page.locator('#operations-advisory-yieldAtPoint').waitFor()
    expect(await page.locator('#operations-tag-auth').getAttribute('data-is-open')).toBe('false')
  })

  test('has links above the operations that open them where they can be seen', async () => {
    for (const link of await page.locator('.cards a[href^="#/"]').all()) {
      const [, tag, id] = String(await link.getAttribute('href')).split('/')
      await link.click()
      await page.locator(`#operations-${tag}-${id}.is-open`).waitFor()
      const block = page.locator(`#operations-${tag}-${id}`)
      await expect
        .poll(async () => Math.round((await block.boundingBox())?.y ?? -1), PATIENCE)
        .toSatisfy((top: number) => top >= 0 && top < DESKTOP.height / 2)
    }
  })

  test('has Execute near the top of an operation, and the body before the query', async () => {
    const block = page.locator('#operations-advisory-yieldAtPoint')
    for (const [width, height, most] of [
      [1440, 900, 900],
      [390, 844, 2 * 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      if ((await block.locator('.opblock-body').count()) === 0)
        await block.locator('.opblock-summary-control').click()
      const topOf = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN
      const [top, button] = [await topOf(block), await topOf(block.getByRole('button', { name: 'Execute' }))]
      const [body, query] = [await topOf(block.locator('textarea')), await topOf(block.locator('.in-query'))]
      expect(button - top).toBeLessThan(most)
      expect(body).toBeLessThan(query)
    }
    await page.setViewportSize(DESKTOP)
  })

  test('puts what references name in their place as Swagger UI does', async () => {
    const path = ['paths', '/advisory/yield', 'post']
    const [spec, address, theirs] = await page.evaluate<[object, string, unknown]>(`(async () => {
      const baseDoc = document.baseURI.replace(/#.*/, '')
      const { paths, ...others } = await (await fetch('docs/json')).json()
      // Swagger UI draws what it is given, too.
      const spec = { ...others, paths: { '/advisory/yield': paths['/advisory/yield'] } }
      const { fn } = SwaggerUIBundle({ spec, domNode: document.createElement('div') }).getSystem()
      const resolved = await fn.resolveSubtree(spec, ${JSON.stringify(path)}, { baseDoc })
      return [spec, baseDoc, resolved.spec]
    })()`)
    const ours = createResolver(spec, address)(path)
    expect(JSON.stringify(ours)).toContain('$$ref')
    expect(ours).toEqual(theirs)
  })

  test('has the guide above them, with commands that ask this service as somebody of their own', async () => {
    const origin = url.replace('/docs', '')
    const command = (chapter: string) => page.locator(`#${chapter} code.language-sh`).first()
    expect(await command('the-first-call').isVisible()).toBe(false)
    await page.locator('#the-first-call summary').click()
    expect(await command('the-first-call').innerText()).toContain(`curl '${origin}/advisory/yield/point?`)
    // From a page to a chapter, which is folded there.
    await page.goto(`${url}/rules`)
    await page.locator('a[href=".#a-key"]').click()
    await page.locator('#a-key[open]').waitFor()
    const [, address] = /"email": "(.*?)"/.exec(await command('a-key').innerText()) ?? []
    expect(address).toMatch(/^kofi\.[0-9a-z]+@example\.org$/)
    expect(
      await page.evaluate('document.querySelector("#a-key").getBoundingClientRect().top < innerHeight'),
    ).toBe(true)
  })

  test('fits a phone, with the form and the answer of an operation', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    const block = page.locator('#operations-advisory-yieldAtPoint')
    await page.locator('.cards').getByRole('link', { name: 'Try it', exact: true }).first().click()
    const button = block.getByRole('button', { name: 'Execute' })
    await button.click()
    expect(await statusIn(block)).toBe('200')
    const { x = -1, width = 0, height = 0 } = (await button.boundingBox()) ?? {}
    expect([x >= 0, x + width <= 390, height >= 30]).toEqual([true, true, true])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    for (const summary of await page.locator('.reading summary').all()) await summary.click()
    expect(await seriousFindings(page, { runOnly: [HEADINGS] })).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.setViewportSize(DESKTOP)
  })

  test('executes operations one after the other as their examples are, and nothing goes wrong', {
    timeout: 600_000,
  }, async () => {
    await page.route('**/openapi.json*', withWhatIsExecuted)
    await page.goto(url + WHOLE)
    const executed: Executed[] = []
    for (const name of VISIT) {
      const operation = operations.find(({ operationId }) => operationId === name) as Operation
      executed.push(...(await execute(operation)))
    }
    // Nothing of who was here stays.
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual([])
    expect(executed.filter(({ got, wanted }) => got !== wanted)).toEqual([])
    expect(visit.complaints).toEqual([])
  })
})

/** Drawing other operations, and what answers look like, takes most of the time, and is no part of executing one. */
async function withWhatIsExecuted(route: Route): Promise<void> {
  const response = await route.fetch()
  const document = await response.json()
  for (const operations of Object.values<Record<string, OpenAPIV3_1.OperationObject>>(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (!VISIT.includes(operation.operationId as string)) delete operations[method]
      const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status < '400')
      operation.responses = Object.fromEntries(successes.map(([status, answer]) => [status, typesOf(answer)]))
    }
  }
  await route.fulfill({ response, json: document })
}

/** Of an answer, what is asked for in `Accept`. */
function typesOf(
  answer: OpenAPIV3_1.ResponseObject | OpenAPIV3_1.ReferenceObject,
): OpenAPIV3_1.ResponseObject {
  const types = Object.keys(('content' in answer && answer.content) || {})
  return { description: '', content: Object.fromEntries(types.map((type) => [type, {}])) }
}

interface Executed {
  operationId: string
  mediaType: string | undefined
  wanted: string
  got: string
}

/** Opens an operation, from a card where that leads to it, and presses Execute, once for each type of body. */
async function execute({ tags, operationId = '', responses, requestBody }: Operation): Promise<Executed[]> {
  const tag = tags?.[0]
  const mediaTypes = Object.keys(requestBody?.content ?? {})
  const wanted = Object.keys(responses).find((status) => status.startsWith('2')) as string
  const block = page.locator(`#operations-${tag}-${operationId}`)
  const summary = block.locator('.opblock-summary-control')
  const link = page.locator(`.cards a[href="#/${tag}/${operationId}"]`)
  const closed = page.locator(`#operations-tag-${tag}[data-is-open="false"]`)
  if ((await closed.count()) > 0) await closed.click()
  await ((await link.count()) > 0 ? link : summary).click()
  const executed: Executed[] = []
  for (const mediaType of mediaTypes.length > 0 ? mediaTypes : [undefined]) {
    if (mediaTypes.length > 1)
      await block.getByLabel('Request content type').selectOption(mediaType as string)
    if (operationId === 'confirmEmail') await copyToken(block)
    // What was answered before is taken away; drawing that is not worth the time where nothing follows.
    const clear = block.getByRole('button', { name: 'Clear' })
    if (await clear.isVisible()) await clear.click()
    const button = block.getByRole('button', { name: 'Execute' })
    await button.click({ trial: true })
    // In one step: a page that is drawn anew between press and release has no click.
    await button.dispatchEvent('click')
    executed.push({ operationId, mediaType, wanted, got: await statusIn(block) })
  }
  await summary.click()
  return executed
}

/** Puts the token of the newest mail into the body. */
async function copyToken(block: Locator): Promise<void> {
  const mail = newestMail()
  const body = block.locator('textarea.body-param__text')
  await body.fill(JSON.stringify({ ...JSON.parse(await body.inputValue()), token: mail && tokenIn(mail) }))
}

/** The status of the answer; what the form says where it was not sent. */
async function statusIn(block: Locator): Promise<string> {
  const status = block.locator('.live-responses-table .response-col_status').nth(1)
  const refusal = block.locator('.invalid').first()
  await status.or(refusal).waitFor()
  if (await status.isVisible()) return (await status.innerText()).trim().split(/\s/)[0] as string
  return `not sent: ${await refusal.evaluate((element) => element.outerHTML)}`
}
