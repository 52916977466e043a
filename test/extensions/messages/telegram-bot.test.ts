// Runs on a server alone: on the embedded database a first answer may take longer than a channel waits.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { TelegramServer } from 'telegram-test-api/lib/telegramServer.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '#bench/processes.ts'
import { createSecrets } from '#ops/messages/kannel.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const { SENDER_KEY, TELEGRAM_SECRET } = createSecrets()
const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'

/** What a bot answers to an update. */
interface Answered {
  status: number
  call: { method?: string; chat_id?: number; text?: string }
}

describe('a bot', () => {
  const service = openApp({ settings: { SENDER_KEY, TELEGRAM_SECRET } })
  const answered: Answered[] = []
  let telegram: TelegramServer
  let forwarder: Server
  let webhook: string
  beforeAll(async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    webhook = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}/messages/telegram`
    telegram = new TelegramServer({ host: '127.0.0.1', port: await freePort() })
    await telegram.start()
    forwarder = createServer(async (request, response) => {
      await forward(await json(request)).catch((error) => answered.push(error))
      response.end()
    })
    await new Promise<void>((listening) => forwarder.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}`
    // A channel says that it is busy where the first look at a place takes long.
    for (const [index, text] of ['9.5 38.5', 'FORAGE Remera'].entries()) {
      await forward({ update_id: 2000 + index, message: { message_id: 1, chat: { id: 9 }, text } })
    }
    await call('setWebhook', { url, secret_token: TELEGRAM_SECRET })
  })
  afterAll(async () => {
    forwarder.close()
    await telegram.stop()
  })

  const post = (url: string, body: unknown, headers = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  const call = (method: string, body: unknown) =>
    post(`${telegram.config.apiURL}/bot${TOKEN}/${method}`, body)

  /** Does for an update what Telegram does and the test API does not: it sends the secret, and makes the call of the answer. */
  async function forward(update: unknown): Promise<Answered> {
    const answer = await post(webhook, update, { 'x-telegram-bot-api-secret-token': TELEGRAM_SECRET })
    const { method, ...body } = (await answer.json()) as Answered['call']
    if (method) await call(method, body)
    answered.push({ status: answer.status, call: { method, ...body } })
    return answered.at(-1) as Answered
  }

  /** A chat with the bot. */
  function openChat(chatId: number) {
    const client = telegram.getClient(TOKEN, { userId: chatId, chatId })
    return async (text: string, content: object = {}): Promise<string[]> => {
      const before = answered.length
      const message = { ...client.makeMessage(text), ...content }
      await client.sendMessage(message as Parameters<typeof client.sendMessage>[0])
      await vi.waitFor(() => expect(answered.length).toBe(before + 1), PATIENCE)
      expect(answered.at(-1)?.status).toBe(200)
      const updates = await post(`${telegram.config.apiURL}/getUpdates`, { token: TOKEN, chatId })
      const { result } = (await updates.json()) as { result: { message: { text: string } }[] }
      return result.map((one) => one.message.text)
    }
  }

  test('takes its own name and the payload of a link behind a command', async () => {
    const send = openChat(7)
    expect(await send('/stop@AdvisoryBot')).toEqual([expect.stringMatching(/^You get no more messages/)])
    expect(await send('HELP')).toEqual([])
    expect(await send('/start@AdvisoryBot poster-12')).toEqual([
      expect.stringMatching(/^Send a crop or input/),
    ])
  })

  test('says how to ask, and answers with the values of the place', async () => {
    const send = openChat(1)
    const [help] = await send('/start')
    expect(help).toMatch(/^Send a crop or input and a place: WHEAT ADDIS ABABA\./)
    const [reply] = await send('yield 9.5 38.5')
    const answer = await service.get('/advisory/yield/point?lat=9.5&lng=38.5')
    const entries: { scenario: string; yield_kg_ha: number }[] = answer.body.yield_data
    for (const { scenario, yield_kg_ha } of entries)
      expect(reply).toContain(`${scenario} ${yield_kg_ha} kg/ha`)
  })

  test('answers for a location with all products in one message, which leaves nothing for MORE', async () => {
    const send = openChat(2)
    const location = { latitude: 9.5, longitude: 38.5 }
    const [reply = ''] = await send('', { location, text: undefined })
    for (const subject of ['Yield (wheat)', 'Fertilizer (wheat)', 'Organic inputs (wheat)', 'Forage']) {
      expect(reply).toContain(subject)
    }
    expect(await send('MORE')).toEqual(['There is no more. Send HELP for examples.'])
  })

  test('lists places of the same name, and takes the number', async () => {
    const send = openChat(3)
    const [list] = await send('FORAGE North Shewa')
    expect(list).toBe('Which one? Send its number: 1 North Shewa (Amhara); 2 North Shewa (Oromia).')
    const [reply] = await send('2')
    expect(reply).toMatch(/^North Shewa \(Oromia\)\. Demo data, not advice\. Forage: /)
  })

  const HELP = expect.stringMatching(/^Send a crop or input and a place: /)

  /** The reply to an update without a text; undefined for silence. */
  let updates = 5000
  const replyTo = async (content: object, kind = 'message', chat: object = { id: 41, type: 'private' }) => {
    const { status, call } = await forward({
      update_id: updates++,
      [kind]: { message_id: 1, chat, ...content },
    })
    expect(status).toBe(200)
    return (call as { text?: string }).text
  }
  const PHOTO = { photo: [{ file_id: 'x', width: 1, height: 1 }] }

  test('reads the caption of a picture in a private chat as a text', async () => {
    const [plain] = await openChat(42)('forage Fiche')
    for (const content of [PHOTO, { video: {} }, { document: {} }, { animation: {}, document: {} }]) {
      const caption = await replyTo({ ...content, caption: 'forage Fiche' }, 'message', {
        id: updates,
        type: 'private',
      })
      expect(caption).toBe(plain)
    }
    expect(await replyTo({ ...PHOTO, caption: '/stop@AdvisoryBot' })).toMatch(/^You get no more messages/)
    // A picture is no wish to be answered again.
    expect(await replyTo(PHOTO)).toBeUndefined()
    expect(await replyTo({ text: '/start' })).toEqual(HELP)
  })

  test('helps in a private chat where a message has no text, and where one is edited', async () => {
    for (const content of [
      ...[
        PHOTO,
        { ...PHOTO, caption: '' },
        { voice: {} },
        { audio: {} },
        { video_note: {} },
        { sticker: {} },
      ],
      ...[{ contact: { phone_number: '1' } }, { document: {} }, { poll: {} }, { dice: {} }],
    ]) {
      expect([content, await replyTo(content)]).toEqual([content, HELP])
    }
    expect(await replyTo({ text: 'yield Fiche' }, 'edited_message')).toEqual(HELP)
    expect(await replyTo({ ...PHOTO, caption: 'yield Fiche' }, 'edited_message')).toEqual(HELP)
  })

  test('is silent in groups and channels, and to what is no message of a person', async () => {
    const location = { location: { latitude: 9.5, longitude: 38.5, live_period: 60 } }
    const group = { id: -41, type: 'supergroup' }
    for (const [content, kind, chat] of [
      [PHOTO, 'message', group],
      [{ ...PHOTO, caption: 'yield Fiche' }, 'message', group],
      [{ voice: {} }, 'message', { id: -41 }],
      [{ text: 'yield Fiche' }, 'edited_message', group],
      [{ text: 'yield Fiche' }, 'channel_post', { id: -42, type: 'channel' }],
      [{ text: 'yield Fiche' }, 'edited_channel_post', { id: -42, type: 'channel' }],
      [location, 'edited_message', undefined],
      [{ pinned_message: {} }, 'message', undefined],
      [{ new_chat_members: [] }, 'message', group],
      [{ status: 'kicked' }, 'my_chat_member', undefined],
    ] as const) {
      expect([kind, content, await replyTo(content, kind, chat)]).toEqual([kind, content, undefined])
    }
    const { status, call } = await forward({ update_id: updates++, callback_query: { id: '1', data: 'x' } })
    expect([status, call]).toEqual([200, {}])
  })

  test('says the same again to an update that is sent again', async () => {
    const update = {
      update_id: 999,
      message: { message_id: 1, chat: { id: 4, type: 'private' }, text: 'HELP' },
    }
    const first = await forward(update)
    expect(first.call).toMatchObject({ method: 'sendMessage', chat_id: 4 })
    expect(await forward(update)).toEqual(first)
  })

  test('is refused to whoever has no secret', async () => {
    const update = { update_id: 1000, message: { message_id: 1, chat: { id: 5 }, text: 'HELP' } }
    for (const headers of [{}, { 'x-telegram-bot-api-secret-token': 'x'.repeat(64) }]) {
      expect((await post(webhook, update, headers)).status).toBe(401)
    }
  })
})
