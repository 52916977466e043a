import type { AddressInfo } from 'node:net'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Locator, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenIn } from '#test/accounts/mails.ts'
import { bytesOf } from '#test/accounts/two-factor.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { openWatchedPage, type WatchedPage } from '#test/setup/browser.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { type MailServer, startMailServer } from '#test/setup/mail-server.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { codeOfStep, stepAt } from '#test/setup/totp.ts'
import { HEADINGS, seriousFindings } from '#test/web/pages.ts'
import { createResolver } from '../../../web/docs/document.ts'

interface Operation {
  method: string
  path: string
  tag: string
  operationId: string
  /** The status of a success. */
  success: string
  /** The types that a body may be sent as. */
  mediaTypes: string[]
  /** Operations of one form have the same sorts of fields. */
  form: string
}

/** Whoever comes to the page begins with these. */
const ARRIVING = ['register', 'resendConfirmation', 'confirmEmail', 'login']

/** The operations after these need what they make. */
const PREPARING = ['yieldAtPoint', 'createSubscription', 'createKey']

/** A second factor comes and goes between the others: what is shown is copied from the app that it is set up in. */
const TWO_FACTOR = ['beginTwoFactor', 'confirmTwoFactor', 'disableTwoFactor']

/** These end what others need, so they come last: first what a forgotten password ends, which is all. */
const LEAVING = [
  'shareHistoryItem',
  'getShare',
  'unshareHistoryItem',
  'deleteHistoryItem',
  'deleteSubscription',
  'deleteKey',
  'endOtherSessions',
  'listSessions',
  'endSession',
  'login',
  'logout',
  'forgotPassword',
  'resetPassword',
]

/** And these for another visitor, since the account of the first one has another password by now. */
const LEAVING_FOR_GOOD = ['changePassword', 'login', 'deleteProfile']

/** The visitor is no admin. */
const FOR_ADMINS = ['compareReleases', 'getScorecard', 'listSlowCalls']

/** What the browser says of it. */
const FORBIDDEN = 'Failed to load resource: the server responded with a status of 403 (Forbidden)'

/** What no example can have: it has to be copied from a mail. */
const TOKEN_OF_A_MAIL = ['confirmEmail', 'resetPassword']

/** And a code has to be copied from an app. */
const CODE_OF_AN_APP = ['confirmTwoFactor', 'disableTwoFactor']

const DESKTOP = { width: 1000, height: 700 }

/** The page with the document of all operations, as its chooser writes it. */
const WHOLE = '?urls.primaryName=All+operations'

let service: TestApp
let mailServer: MailServer
let watched: WatchedPage
let page: Page
let url: string
let operations: Operation[]
/** What the authenticator app of the visitor makes codes of. */
let secretOfApp = ''

describe.skipIf(!CHROMIUM)('the page of the documentation, in a browser', () => {
  beforeAll(async () => {
    mailServer = await startMailServer()
    service = await createTestApp({
      settings: {
        SMTP_URL: mailServer.url,
        MAIL_FROM: 'noreply@example.org',
        EMAIL_CONFIRMATION: 'required',
      },
    })
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}/docs`
    operations = operationsOf((await service.app.inject('/openapi.json?media=all')).json())
    watched = await openWatchedPage(DESKTOP)
    page = watched.page
    page.setDefaultTimeout(PATIENCE.timeout)
    page.on('response', async (response) => {
      if (response.url().endsWith('/auth/two-factor') && response.request().method() === 'POST') {
        secretOfApp = (await response.json()).secret
      }
    })
    await page.goto(url + WHOLE)
  })
  afterAll(async () => {
    await watched?.close()
    await service?.close()
    await mailServer?.close()
  })

  test('puts what references name in their place as Swagger UI does', async () => {
    const path = ['paths', '/advisory/yield', 'post']
    const [spec, address, theirs] = await page.evaluate<[object, string, unknown]>(`(async () => {
      const baseDoc = document.baseURI.replace(/#.*/, '')
      const spec = await (await fetch('docs/json')).json()
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
    await page.goto(url + WHOLE)
  })

  test('fits a phone, with the form and the answer of an operation', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    const { tag, operationId } = operations[0] as Operation
    const block = page.locator(`#operations-${tag}-${operationId}`)
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
    await page.reload()
  })

  test('executes an operation of each form as its example is, and nothing goes wrong', {
    timeout: 600_000,
  }, async () => {
    await page.route('**/openapi.json*', withoutAnswers)
    await page.reload()
    const executed = [
      ...(await executeAll(ARRIVING)),
      ...(await executeAll([...PREPARING, ...FOR_ADMINS, ...oneOfEachForm()])),
      ...(await executeAll(TWO_FACTOR)),
      ...(await executeAll(LEAVING)),
    ]
    await page.reload()
    executed.push(...(await executeAll(ARRIVING)))
    executed.push(...(await executeAll(LEAVING_FOR_GOOD)))
    // Nothing of who was here stays.
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual([])
    expect(executed.filter(({ got, wanted }) => got !== wanted)).toEqual([])
    expect(watched.complaints).toEqual(FOR_ADMINS.map(() => FORBIDDEN))
  })
})

/** Drawing what answers look like takes most of the time, and is no part of executing an operation. */
async function withoutAnswers(route: Route): Promise<void> {
  const response = await route.fetch()
  const document = await response.json()
  for (const operations of Object.values<Record<string, OpenAPIV3_1.OperationObject>>(document.paths)) {
    for (const operation of Object.values(operations)) {
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

function operationsOf(document: OpenAPIV3_1.Document): Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, OpenAPIV3_1.OperationObject>).map(([method, operation]) => ({
      method,
      path,
      tag: operation.tags?.[0] as string,
      operationId: operation.operationId as string,
      success: Object.keys(operation.responses ?? {}).find((status) => status.startsWith('2')) as string,
      mediaTypes: Object.keys((operation.requestBody as OpenAPIV3_1.RequestBodyObject)?.content ?? {}),
      form: formOf(method, operation),
    })),
  )
}

function formOf(method: string, { parameters = [], requestBody }: OpenAPIV3_1.OperationObject): string {
  const places = parameters.flatMap((one) => ('in' in one && one.in !== 'header' ? one.in : []))
  const types = Object.keys((requestBody as OpenAPIV3_1.RequestBodyObject)?.content ?? {})
  return [method, ...new Set(places), types.length].join()
}

/** Of the operations that neither begin nor end anything; `document-answers.test.ts` sends the examples of all. */
function oneOfEachForm(): string[] {
  const others = [ARRIVING, PREPARING, FOR_ADMINS, TWO_FACTOR, LEAVING, LEAVING_FOR_GOOD].flat()
  const names = new Map<string, string>()
  for (const { form, operationId } of operations)
    if (!others.includes(operationId) && !names.has(form)) names.set(form, operationId)
  return [...names.values()]
}

interface Executed {
  operationId: string
  mediaType: string | undefined
  wanted: string
  got: string
}

async function executeAll(names: string[]): Promise<Executed[]> {
  const executed: Executed[] = []
  for (const name of names) {
    const operation = operations.find(({ operationId }) => operationId === name) as Operation
    executed.push(...(await execute(operation)))
  }
  return executed
}

/** Opens an operation, from a card where that leads to it, and presses Execute, once for each type of body. */
async function execute({ tag, operationId, success, mediaTypes }: Operation): Promise<Executed[]> {
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
    if (TOKEN_OF_A_MAIL.includes(operationId)) await copyToken(block)
    if (CODE_OF_AN_APP.includes(operationId)) await copyCode(block, operationId)
    // What was answered before is taken away; drawing that is not worth the time where nothing follows.
    const clear = block.getByRole('button', { name: 'Clear' })
    if (await clear.isVisible()) await clear.click()
    await block.getByRole('button', { name: 'Execute' }).click()
    const got = await statusIn(block)
    executed.push({ operationId, mediaType, wanted: FOR_ADMINS.includes(operationId) ? '403' : success, got })
  }
  await summary.click()
  return executed
}

/** Puts the token of the newest mail into the body. */
async function copyToken(block: Locator): Promise<void> {
  const mail = mailServer.mails.at(-1)
  await changeBody(block, { token: mail && tokenIn(mail) })
}

/** Puts a code of the visitor's app into the body: the present one or, where that was used, the next one. */
async function copyCode(block: Locator, operationId: string): Promise<void> {
  const step = stepAt(Date.now()) + CODE_OF_AN_APP.indexOf(operationId)
  await changeBody(block, { totp: codeOfStep(bytesOf(secretOfApp), step) })
}

async function changeBody(block: Locator, changes: object): Promise<void> {
  const body = block.locator('textarea.body-param__text')
  await body.fill(JSON.stringify({ ...JSON.parse(await body.inputValue()), ...changes }))
}

/** The status of the answer; what the form says where it was not sent. */
async function statusIn(block: Locator): Promise<string> {
  const status = block.locator('.live-responses-table .response-col_status').nth(1)
  const refusal = block.locator('.invalid').first()
  await status.or(refusal).waitFor()
  if (await status.isVisible()) return (await status.innerText()).trim().split(/\s/)[0] as string
  return `not sent: ${await refusal.evaluate((element) => element.outerHTML)}`
}
