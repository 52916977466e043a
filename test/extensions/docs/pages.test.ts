import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { createMailingApp, tokenIn } from '#test/accounts/mails.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { documentOf, type Operation, operationsOf } from '#test/setup/document.ts'
import type { ReceivedMail } from '#test/setup/mail-server.ts'
import { expectState } from '#test/setup/page-state.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { allFaultsOf } from '#test/web/looks.ts'
import { DESKTOP, HEADINGS, openPages, PHONE, seriousFindings } from '#test/web/pages.ts'

/**
 * What a visitor executes: operations that want what an answer before has given, of each sort, and a body of several
 * types. `document-answers.test.ts` sends the examples of all operations.
 */
const VISIT = [
  ...['register', 'confirmEmail', 'login', 'refresh'],
  ...['yieldAtPoint', 'yieldAtPoints', 'getHistoryItem', 'shareHistoryItem', 'getCitation'],
  ...['createKey', 'deleteKey', 'changePassword', 'listSessions', 'endSession', 'login', 'deleteProfile'],
]

/** Each is looked for by somebody: words of guides, operations and errors, and others for the same. */
const WORDS = [
  ...[
    'fertiliser',
    'webhook',
    'bulk',
    '5000',
    'authentication',
    'geojson',
    'district',
    'error',
    'token',
    'csv',
  ],
  ...['sms', 'offline', 'retry', 'rate limit', 'polygon', 'NO_DATA', 'history_id', 'probability', 'password'],
]

/** So wide is a window with the list at the side and code beside the text. */
const WIDE = { width: 1440, height: 900 }

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

  test('begins with the first calls, and has a list of all guides and operations at the side', async () => {
    await expectState(page.getByRole('region', { name: 'First calls' }), 'first-calls')
    expect(await page.locator('.contents .group a').count()).toBe(operations.length)
    expect(await page.locator('.contents ul > li > a:not([href^="#"])').count()).toBeGreaterThan(9)
  })

  test('shows code beside the text where there is room, below it elsewhere, in one language for the page', async () => {
    const call = page.locator('.chapter').first()
    const [text, code] = [call.locator('p').first(), call.locator('.code:visible')]
    const boxes = async () => [await text.boundingBox(), await code.boundingBox()]
    await page.setViewportSize(WIDE)
    let [first, second] = await boxes()
    expect(second?.x).toBeGreaterThan((first?.x ?? 0) + (first?.width ?? 0))
    expect(Math.abs((second?.y ?? 0) - (first?.y ?? 0))).toBeLessThan(20)
    await page.setViewportSize(PHONE)
    ;[first, second] = await boxes()
    expect(second?.y).toBeGreaterThanOrEqual((first?.y ?? 0) + (first?.height ?? 0))
    await page.locator('.languages label', { hasText: 'Python' }).click()
    await openOperation('yieldAtPoints')
    const shown = page.locator('.samples > .code:visible')
    const languages = await shown.evaluateAll((all) => all.map((one) => one.className))
    expect([languages.length, new Set(languages)]).toEqual([4, new Set(['code language-python'])])
    await page.locator('.languages label', { hasText: 'curl' }).click()
    await page.locator('#op-yieldAtPoints > summary').click()
    await page.setViewportSize(DESKTOP)
  })

  test('has lines of at most 64 letters, and the first operation on a phone two screens down at most', async () => {
    for (const size of [WIDE, PHONE]) {
      await page.setViewportSize(size)
      expect(Math.max(...(await page.evaluate<number[]>(LINES_OF_TEXT)))).toBeLessThanOrEqual(64)
    }
    await page.evaluate('scrollTo(0, 0)')
    const top = (await page.locator('.operation').first().boundingBox())?.y ?? Number.NaN
    expect(top).toBeLessThan(2 * PHONE.height)
    await page.setViewportSize(DESKTOP)
  })

  test('shows all of a code that is cut, and links to the guides and tags that a text names', async () => {
    await openOperation('getCatalog')
    const answer = page.locator('#op-getCatalog .code').last()
    const lines = (await answer.locator('pre').innerText()).split('\n').length
    const cut = () => answer.locator('pre').evaluate((pre) => pre.scrollHeight - pre.clientHeight)
    expect(await cut()).toBeGreaterThan(0)
    await answer.getByRole('button', { name: `Show all ${lines} lines` }).click()
    await answer.getByRole('button', { name: 'Show all' }).waitFor({ state: 'hidden' })
    expect(await cut()).toBe(0)
    await page.locator('#op-getCatalog > summary').click()
    const rules = page.locator('#tag-advisory a', { hasText: '/docs/rules' })
    expect(await rules.getAttribute('href')).toBe('docs/rules')
    await openOperation('yieldAtPoint')
    await page.locator('#op-yieldAtPoint .text a[href="#/advisory"]').click()
    await expect.poll(() => page.url(), PATIENCE).toBe(`${url}#/advisory`)
    await page.locator('#op-yieldAtPoint > summary').click()
  })

  test('finds guides, operations, fields and codes of errors, and says where there is nothing', async () => {
    await page.keyboard.press('Control+k')
    const box = page.getByRole('searchbox', { name: 'Search' })
    const status = page.locator('dialog.search [role="status"]')
    for (const word of WORDS) {
      await box.fill(word)
      await expect
        .poll(() => status.innerText(), PATIENCE)
        .toMatch(new RegExp(`^\\d+ results? for “${word}”\\.$`))
    }
    await box.fill('zebra crossing')
    await expect.poll(() => status.innerText(), PATIENCE).toBe('Nothing found for “zebra crossing”.')
    await box.fill('change PASSWORD')
    await page.locator('.found a').first().getByText('POST /auth/password', { exact: true }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await box.press('Enter')
    await page.locator('#op-changePassword[open] .try').waitFor()
    expect(await page.locator('dialog.search').isVisible()).toBe(false)
    await page.keyboard.press('Control+k')
    await box.press('Escape')
    expect(await page.locator('dialog.search').isVisible()).toBe(false)
    await page.locator('#op-changePassword > summary').click()
  })

  test('marks in the list what is being read', async () => {
    await page.setViewportSize(WIDE)
    await page.evaluate('document.querySelector("#op-getHistoryItem").scrollIntoView()')
    await page
      .locator('.contents .group[open] a[href="#/history/getHistoryItem"][aria-current="true"]')
      .waitFor()
    expect(await page.locator('.contents [aria-current="true"]').count()).toBe(1)
    await page.setViewportSize(DESKTOP)
  })

  test('has links that open operations, and their forms, where they can be seen', async () => {
    for (const link of await page.locator('#first-calls a[href^="#/"]').all()) {
      const [, , id] = String(await link.getAttribute('href')).split('/')
      await link.click()
      await page.locator(`#op-${id}[open] .opblock-body`).waitFor()
      const block = page.locator(`#op-${id}`)
      await expect
        .poll(async () => Math.round((await block.boundingBox())?.y ?? -1), PATIENCE)
        .toSatisfy((top: number) => top >= 0 && top < DESKTOP.height / 2)
    }
  })

  test('has Execute near the top of an operation, the body before the query, and the answer in sight', async () => {
    const block = page.locator('#op-yieldAtPoint')
    for (const [size, most] of [
      [WIDE, 900],
      [PHONE, 2 * PHONE.height],
    ] as const) {
      await page.setViewportSize(size)
      await openForm('yieldAtPoint')
      const topOf = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN
      const [top, button] = [await topOf(block), await topOf(block.getByRole('button', { name: 'Execute' }))]
      const [body, query] = [await topOf(block.locator('textarea')), await topOf(block.locator('.in-query'))]
      expect(button - top).toBeLessThan(most)
      expect(body).toBeLessThan(query)
      await block.getByRole('button', { name: 'Execute' }).click()
      expect(await statusIn(block)).toBe('200')
      const answer = block.locator('.live-responses-table .highlight-code')
      await expect.poll(() => topOf(answer), PATIENCE).toSatisfy((y: number) => y >= 0 && y < size.height / 2)
      expect(await topOf(answer)).toBeLessThan(await topOf(block.locator('.asked').first()))
      await block.getByRole('button', { name: 'Clear' }).click()
    }
    await page.setViewportSize(DESKTOP)
  })

  test('has guides with commands that ask this service as somebody of their own', async () => {
    const origin = url.replace('/docs', '')
    // Where the chapters of the guide were before.
    await page.goto(`${url}#a-key`)
    await page.waitForURL(`${url}/guide#a-key`)
    const command = page.locator('.chapter:has(#a-key) code.language-sh').first()
    expect(await command.innerText()).toContain(`${origin}/auth/register`)
    const [, address] = /"email": "(.*?)"/.exec(await command.innerText()) ?? []
    expect(address).toMatch(/^kofi\.[0-9a-z]+@example\.org$/)
    expect(
      await page.evaluate('document.querySelector("#a-key").getBoundingClientRect().top < innerHeight'),
    ).toBe(true)
  })

  test.each([
    ['', WIDE],
    ['', PHONE],
    ['/rules', WIDE],
    ['/guide', PHONE],
  ])('has nothing that is wrong in it: %s at %o', async (path, size) => {
    await page.setViewportSize(size)
    await page.goto(url + path)
    // Boxes of links in a text that are broken over two lines lie on each other.
    const faults = (await allFaultsOf(page)).filter(
      (fault) => !/^a .* and a .* lie on each other$/.test(fault),
    )
    expect(faults).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(size.width)
    await page.emulateMedia({ colorScheme: 'light' })
  })

  test('fits a phone, with the text, the form and the answer of an operation', async () => {
    await page.setViewportSize(PHONE)
    await page.goto(url)
    await page.locator('#first-calls').getByRole('link', { name: 'Try it', exact: true }).first().click()
    const block = page.locator('#op-yieldAtPoint')
    const button = block.getByRole('button', { name: 'Execute' })
    await button.click()
    expect(await statusIn(block)).toBe('200')
    const { x = -1, width = 0, height = 0 } = (await button.boundingBox()) ?? {}
    expect([x >= 0, x + width <= PHONE.width, height >= 30]).toEqual([true, true, true])
    for (const summary of await block.locator('.text summary').all()) await summary.click()
    expect(await seriousFindings(page, { runOnly: [HEADINGS] })).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width)
    await page.setViewportSize(DESKTOP)
  })

  test.each(['light', 'dark'] as const)(
    'has a form and an answer that axe finds nothing wrong in: %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme })
      await page.goto(url)
      const block = await openForm('yieldAtPoint')
      await block.locator('.in-query > summary').click()
      await block.getByRole('button', { name: 'Execute' }).click()
      expect(await statusIn(block)).toBe('200')
      for (const summary of await block.locator('.asked > summary').all()) {
        await summary.click()
      }
      await block.getByText('content-type: application/json; charset=utf-8').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
    },
  )

  test('executes operations one after the other as their examples are, and nothing goes wrong', {
    timeout: 600_000,
  }, async () => {
    await page.goto(url)
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

/** Letters of each line of paragraphs that can be seen. */
const LINES_OF_TEXT = `[...document.querySelectorAll('.reading p, .reading li')].flatMap((part) => {
  const lines = new Map()
  const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (let at = 0; at < text.length; at++) {
      const range = document.createRange()
      range.setStart(text, at)
      range.setEnd(text, at + 1)
      const { top, width } = range.getBoundingClientRect()
      const line = Math.round(top / 4)
      if (width > 0) lines.set(line, (lines.get(line) ?? 0) + 1)
    }
  }
  return [...lines.values()]
})`

async function openOperation(id: string): Promise<Locator> {
  const block = page.locator(`#op-${id}`)
  if ((await block.getAttribute('open')) === null) await block.locator('> summary').click()
  await block.locator('.try').waitFor()
  return block
}

/** Opens the form of an operation. */
async function openForm(id: string): Promise<Locator> {
  const block = await openOperation(id)
  if ((await block.locator('.try').getAttribute('aria-expanded')) === 'false')
    await block.locator('.try').click()
  await block.getByRole('button', { name: 'Execute' }).waitFor()
  return block
}

interface Executed {
  operationId: string
  mediaType: string | undefined
  wanted: string
  got: string
}

/** Opens an operation, and presses Execute, once for each type of body. */
async function execute({ operationId = '', responses, requestBody }: Operation): Promise<Executed[]> {
  const mediaTypes = Object.keys(requestBody?.content ?? {})
  const wanted = Object.keys(responses).find((status) => status.startsWith('2')) as string
  const block = await openForm(operationId)
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
  await block.locator('> summary').click()
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
