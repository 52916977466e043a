import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, test } from 'vitest'
import { CHANNELS, createSender } from '#test/setup/gateway.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService({ settings: { ...CHANNELS, MESSAGES_A_DAY: '30' } })

describe('a message', () => {
  test('with a crop and a position is answered as the point is, and MORE has all the rest', async () => {
    const send = newSender()
    const pages = [await send('WHEAT 9.5 38.5')]
    while (pages.at(-1)?.includes('Send MORE.')) pages.push(await send('MORE'))
    expect(pages.map(segmentsOf)).toEqual(pages.map(() => 1))
    const { body } = await get('/advisory/point?lat=9.5&lng=38.5&crop=wheat')
    const shown = pages.flatMap(figuresIn).sort((a, b) => a - b)
    const values = [
      ...body.yield.yield_data.map((entry: { yield_kg_ha: number }) => entry.yield_kg_ha),
      ...body.fertilizer.fertilizer_data.map((entry: { rate_kg_ha: number }) => entry.rate_kg_ha),
      ...body.isfm.isfm_data.map((entry: { rate_tons_ha: number }) => entry.rate_tons_ha),
    ]
    expect(shown).toEqual(values.sort((a: number, b: number) => a - b))
    expect(pages.join(' ')).not.toContain('Forage')
    expect(await send('MORE')).toBe('There is no more. Send HELP for examples.')
  })

  test('with an input and a field has its amount', async () => {
    const reply = await newSender()('UREA 9.5 38.5 10 TIMAD')
    const { body } = await get('/advisory/fertilizer/point?lat=9.5&lng=38.5&area=10 timad')
    const normal = body.fertilizer_data.find(
      (entry: Record<string, unknown>) => entry.fertilizer_type === 'Urea' && entry.scenario === 'Normal',
    )
    expect(reply).toMatch(/^Demo data, not advice\. Fertilizer \(wheat\) Jul 2026 for 10 timad: Urea Normal /)
    expect(reply).toContain(`${normal.rate_kg_ha} kg/ha`)
    expect(reply).toContain(`${normal.quantity.kg} kg`)
    expect(reply).not.toContain('DAP')
  })

  test('about a district has its means, whatever its case, with a typing error, and either way round', async () => {
    const { items } = (await service.get('/admin?admin0=eth&level=1', { by: service.person })).body
    const { code } = items.find(({ name }: { name: string }) => name === 'Tigray')
    const { body } = await service.post('/advisory/yield', {
      by: service.person,
      payload: { admin: { country_code: 'eth', code } },
    })
    const means = ['Normal', 'Above Normal', 'Below Normal'].map((name) =>
      Math.round(body.yield_data.find(({ scenario }: { scenario: string }) => scenario === name).yield_kg_ha),
    )
    const texts = [
      'yield tigray',
      'TIGRAY YIELD',
      'Yeild Tigrai',
      'yield: Tigray',
      `yield ${code}`,
      'yield wheat Tigray',
    ]
    for (const text of texts) {
      const reply = await newSender()(text)
      expect(reply).toMatch(/^Tigray\. Demo data, not advice\. Yield \(wheat\) Jul 2026: Normal \d+ kg\/ha; /)
      expect(figuresIn(reply).slice(0, 3)).toEqual(means)
    }
  })

  test('about an area of several conditions has their mixture, and asks for none', async () => {
    const reply = await newSender()('UREA Tigray')
    const { body } = await get('/advisory/fertilizer?place=Tigray')
    const means = body.fertilizer_data.filter(
      (entry: Record<string, unknown>) => entry.fertilizer_type === 'Urea' && entry.scenario === 'Normal',
    )
    expect(means).toHaveLength(1)
    expect(reply).toContain(`: Urea Normal ${Math.round(means[0].rate_kg_ha)} kg/ha`)
  })

  test('has no choice that was not offered', async () => {
    const send = newSender()
    await send('wheat fichee')
    expect(await send('99')).toBe('There is no choice 99. Send your question again.')
  })

  test('refers to the last place and to the last subject', async () => {
    const send = newSender()
    await send('wheat 9.5 38.5')
    const again = await send('DAP')
    expect(again).toBe((await newSender()('DAP 9.5 38.5')).replace('A2', 'B2'))
    expect(await send('9.6 38.6')).toBe((await newSender()('DAP 9.6 38.6')).replace('A2', 'C2'))
  })

  test.each([
    '',
    'xyzzy plugh',
    '???',
    '🌾',
    'HELP',
    'hepl me',
    'HI there',
    'Hi',
    "'; drop table message; --",
  ])('that asks nothing, "%s", gets help in one segment', async (text) => {
    const reply = await newSender()(text)
    expect(reply).toMatch(/^Send a crop or input and a place: /)
    expect(segmentsOf(reply)).toBe(1)
  })

  test('with a word that is not known asks for one of the products at its place', async () => {
    const send = newSender()
    const asked = await send('TEFF FICHE')
    expect(asked).toBe(
      'A word is not known. For Fiche, send the number: 1 yield; 2 fertilizer; 3 organic inputs; 4 forage.',
    )
    expect(await send('1')).toMatch(/^Fiche\. Demo data, not advice\. Yield \(wheat\)/)
    expect(await newSender()('WHEAT KERICHO')).toBe('There is no advice on this crop in this country.')
  })

  test.each([
    ['POTATO RUHENGERI', 'Rubengera, Karongi', '1', /^Rubengera\. Demo data, not advice\. Yield \(potato\)/],
    ['WHEAT SHEVA', 'Sheka, South West Ethiopia', 'Yes', /^Sheka\. Demo data, not advice\. Yield \(wheat\)/],
    ['FORAGE DODOMA', 'Dodowa, Shai-Osudoku', ' 1.', /^Dodowa\. Demo data, not advice\. Forage/],
    ['FORAGE MOYO', 'Molo, Nakuru', 'OK', /^Molo\. Demo data, not advice\. Forage/],
    ['yield fich', 'Fiche, North Shewa (Oromia)', '1', /^Fiche\. /],
  ])(
    'with a place that is only near to a name asks whether it is meant: %s',
    async (text, near, yes, reply) => {
      const send = newSender()
      const asked = await send(text)
      expect([asked, segmentsOf(asked)]).toEqual([`${near}? 1 yes. Or send another place.`, 1])
      expect(await send(yes)).toMatch(reply)
      await send(text)
      const other = text.startsWith('POTATO') ? 'Huye' : 'Fiche'
      expect(await send(other)).toMatch(new RegExp(`^${other}\\. `))
    },
  )

  test('with a name that several places have lists them', async () => {
    const send = newSender()
    expect(await send('FORAGE NORTH SHEWA')).toBe(
      'Which one? Send its number: 1 North Shewa (Amhara); 2 North Shewa (Oromia).',
    )
    expect(await send('2')).toMatch(/^North Shewa \(Oromia\)\. /)
    expect(await newSender()('yes')).toBe('There is no choice YES. Send your question again.')
    // Yes to several is no answer, and each of them can still be chosen.
    await send('FORAGE NORTH SHEWA')
    expect(await send('ok')).toBe('There is no choice YES. Send your question again.')
    expect(await send('1 yes')).toMatch(/^North Shewa \(Amhara\)\. /)
  })

  test('with a question about a place keeps what is asked for, for the place that is sent instead', async () => {
    const send = newSender()
    for (const [asked, place] of [
      ['UREA SHEVA', 'Fiche'],
      ['UREA NORTH SHEWA', '9.5 38.5'],
      ['UREA ATLANTIS', 'Fiche'],
    ] as const) {
      await send(asked)
      expect(await send(place), asked).toMatch(/: Urea Normal/)
    }
    await send('UREA SHEVA')
    expect(await send('1 yes')).toMatch(/^Sheka\..*: Urea Normal/)
  })

  test.each([
    "9°30' 38°30'",
    '9.5 38.5 2200 4.9',
    'Lat 9.5 Long 38.5',
    'geo:9.5,38.5?q=9.5,38.5(Farm)',
    'https://maps.google.com/?q=9.5,38.5',
    'https://www.google.com/maps/search/9.5,+38.5',
    'POINT(38.5 9.5)',
  ])('takes a position in the spelling %s', async (position) => {
    const plain = await newSender()('wheat 9.5 38.5')
    expect(plain).toMatch(/Yield \(wheat\)/)
    for (const text of [`wheat ${position}`, `WHEAT: ${position}`]) {
      expect(await newSender()(text)).toBe(plain)
    }
    const send = newSender()
    await send('wheat 9.6 38.6')
    expect(await send(position)).toBe(plain.replace('A2', 'B2'))
  })

  test('says which place is not known, and takes the place alone then', async () => {
    const send = newSender()
    expect(await send('UREA Atlantis')).toMatch(/^This place is not known\. /)
    expect(await send('9.5 38.5')).toMatch(/Urea Normal/)
    const inAmharic = await send('UREA አዲስ አበባ')
    expect([segmentsOf(inAmharic), inAmharic]).toEqual([
      1,
      expect.stringMatching(/^This place is not known\. /),
    ])
    for (const size of ['0 HA', '99999999999999 HA']) {
      expect(await send(`UREA 9.5 38.5 ${size}`)).toMatch(/^The size of the field must be /)
    }
    expect(await newSender()('UREA')).toMatch(/^For which place\? /)
    expect(await send('wheat 0 0')).toMatch(/no value|outside/)
    expect(await send('wheat 95 38.5')).toMatch(/^This place is not known/)
  })
})

describe('feedback', () => {
  test('goes to the answer of the code, and a later one replaces it', async () => {
    const send = newSender()
    expect(await send('wheat 9.5 38.5')).toContain('Code A2.')
    expect(await send('fert 9.5 38.5')).toContain('Code B2.')
    expect(await send('a2 4')).toBe('Thank you, this is noted for answer A2.')
    expect(await send('A2: 3200')).toBe('Thank you, this is noted for answer A2.')
    expect(await send('A2 35 q')).toBe('Thank you, this is noted for answer A2.')
    expect(await send('B2 3200')).toBe(
      'Answer B2 has no harvest of one place to compare with. Rate it with B2 1 to B2 5.',
    )
    expect(await send('A2 35')).toMatch(/^Send A2 1 to A2 5, or the harvest in kg\/ha, /)
    for (const wrong of [
      'A2 999999999',
      'A2 5 kg',
      'A2 0',
      'A2 6',
      'A2 good',
      'A2 4 good',
      'A2:',
      'A2 -4',
      'A2 .5',
    ]) {
      expect(await send(wrong)).toMatch(/^Send A2 1 to A2 5, or/)
    }
    for (const right of ['A2 5/5', 'A2-5', 'A2 - 5', 'A2.5']) expect(await send(right)).toMatch(/^Thank you/)
    expect(await send('A2 4')).toMatch(/^Thank you/)
    expect(await send('A2 3,500 kg/ha')).toMatch(/^Thank you/)
    expect(await send('yield Oromia')).toContain('Code C2.')
    expect(await send('C2 3000')).toMatch(/^Answer C2 has no harvest of one place/)
    expect(await send('D2 4')).toBe('There is no answer D2 of yours.')
    expect(await newSender()('A2 4')).toBe('There is no answer A2 of yours.')
    const rows = await service.database.writer
      .selectFrom('message')
      .select(['code', 'rating', 'observed'])
      .where('told_at', 'is not', null)
      .execute()
    expect(rows).toEqual([{ code: 'A2', rating: 4, observed: { yield_kg_ha: 3500 } }])
  })
})

describe('a sender', () => {
  test('is known by a hash alone, with or without the plus of the number', async () => {
    const number = '+251 911 22 33 44'
    const send = newSender(number)
    expect(await send('wheat 9.5 38.5')).toContain('Code A2.')
    expect(await newSender('00251911223344')('wheat 9.5 38.5')).toContain('Code B2.')
    const rows = await service.database.writer.selectFrom('message').selectAll().execute()
    // What is no number is a sender of its own.
    for (const other of ['+', '00', 'ALERTS']) {
      expect(await newSender(other)('wheat 9.5 38.5')).toContain('Code A2.')
    }
    expect(JSON.stringify(rows)).not.toMatch(/251911|911 ?22|911223344/)
  })

  test('leaves no word of a message in the database', async () => {
    const send = newSender()
    for (const text of ['UREA zanzara', 'zanzara Fiche', 'zanzara', 'A9 zanzara']) await send(text)
    const rows = await service.database.writer.selectFrom('message').selectAll().execute()
    expect(JSON.stringify(rows)).not.toMatch(/zanzara/i)
  })

  /** What Kannel 1.4 writes for %a of a message in UCS-2 without mo-recode (gw/urltrans.c): words at bytes like blanks. */
  function asKannel(text: string): string {
    const bytes = Buffer.from(text, 'utf16le').swap16().toString('latin1')
    const words = bytes.split(/[ \t\n\v\f\r]+/).filter(Boolean)
    return words.map((word) => escape(word).replaceAll('+', '%2B')).join('+')
  }

  /** A message as a form has it. */
  async function sendEncoded(text: string, more = '', from = `+2519${Math.floor(Math.random() * 1e8)}`) {
    const query = `secret=${CHANNELS.SMS_SECRET}&from=${encodeURIComponent(from)}&text=${text}${more}`
    const inQuery = await service.get(`/messages/sms?${query}`)
    const inForm = await service.post('/messages/sms', {
      payload: query.replace(/from=%2B2519/, 'from=%2B2518'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(inForm.text).toBe(inQuery.text)
    return inQuery.text
  }

  test.each([
    'Stop 🙏',
    '🙏 Stop',
    '“Stop”',
    'Stop ',
    'Stop…',
    'Stop አቁም',
    'አቁም stop',
    '🛑 STOP 🛑',
    'ＳＴＯＰ',
    'stop†',
  ])('of a gateway that sends UTF-16 is obeyed: %s', async (text) => {
    expect(await sendEncoded(asKannel(text))).toMatch(/^You get no more messages/)
    expect(await sendEncoded(encodeURIComponent(text))).toMatch(/^You get no more messages/)
  })

  test.each(['Yield Fiche 🙏', '🌾 Yield Fiche', 'Yield “Fiche”', 'Yield Fiche’', 'Yield Fiche…'])(
    'of a gateway that sends UTF-16 is answered as another one: %s',
    async (text) => {
      const withoutCode = (reply: string) => reply.replace(/Code .*/, '')
      const answer = withoutCode(await sendEncoded('Yield+Fiche'))
      expect(answer).toContain('Demo data')
      expect(withoutCode(await sendEncoded(asKannel(text)))).toBe(answer)
      expect(withoutCode(await sendEncoded(encodeURIComponent(text)))).toBe(answer)
    },
  )

  test('in another encoding is read where the gateway declares it, and a STOP of it is obeyed in any case', async () => {
    const answer = await sendEncoded('Yield+Fiche')
    expect(await sendEncoded('Yield+Fich%e9', '&charset=ISO-8859-1')).toBe(
      await sendEncoded('Yield+Fich%c3%a9'),
    )
    expect(answer).toContain('Demo data')
    expect(await sendEncoded('Stop+%e9t%e9')).toMatch(/^You get no more messages/)
    expect(await sendEncoded('%00S%00t%00o%00p%00+%00')).toMatch(/^You get no more messages/)
  })

  test('who has sent STOP gets nothing until START, and what was theirs is gone', async () => {
    const send = newSender()
    await send('wheat 9.5 38.5')
    expect(await send('stop')).toMatch(/^You get no more messages/)
    expect([await send('wheat 9.5 38.5'), await send('HELP')]).toEqual(['', ''])
    expect(await send('START')).toMatch(/^Send a crop or input/)
    expect(await send('A2 4')).toBe('There is no answer A2 of yours.')
    expect(await send('wheat 9.5 38.5')).toContain('Code A2.')
  })

  test('gets as many answers in a day as the operator allows, reads so once, and then gets nothing; others are answered', async () => {
    const send = newSender()
    const replies: string[] = []
    for (let message = 0; message < 33; message++) replies.push(await send('HELP'))
    expect(replies.slice(0, 30).every((reply) => reply.startsWith('Send a crop'))).toBe(true)
    expect(replies.slice(30)).toEqual([
      'You have sent 30 messages in a day. Please send again tomorrow.',
      '',
      '',
    ])
    expect(await newSender()('HELP')).toMatch(/^Send a crop/)
    // STOP counts at any time, and gives nobody another day.
    expect(await send('STOP')).toMatch(/^You get no more messages/)
    expect([await send('STOP'), await send('START'), await send('HELP')]).toEqual(['', '', ''])
  })
})

describe('a gateway that asks again', () => {
  test('gets the same reply, counted once, also at the same time', async () => {
    const send = newSender()
    const replies = await Promise.all([1, 2, 3, 4].map(() => send('wheat 9.5 38.5', { id: 'one' })))
    expect(new Set(replies).size).toBe(1)
    expect(replies[0]).toContain('Code A2.')
    expect(await send('wheat 9.5 38.5', { id: 'one' })).toBe(replies[0])
    expect(await send('wheat 9.5 38.5', { id: 'two' })).toContain('Code B2.')
    // The id of another sender is another one.
    expect(await newSender()('HELP', { id: 'one' })).toMatch(/^Send a crop/)
  })

  test('needs its secret, and a sender', async () => {
    const ask = async (query: string) => {
      const { status, body } = await get(`/messages/sms?${query}`)
      return [status, body.code, body.error]
    }
    const secret = `secret=${CHANNELS.SMS_SECRET}`
    expect(await ask('from=1&text=a')).toEqual([
      401,
      'UNAUTHORIZED',
      'The secret of the gateway is missing or wrong.',
    ])
    expect((await ask(`${secret}x&from=1&text=a`))[0]).toBe(401)
    expect(await ask(`${secret}&text=a`)).toEqual([400, 'INVALID_PARAMETERS', 'from is required.'])
    expect(await ask(`${secret}&from=1`)).toEqual([400, 'INVALID_PARAMETERS', 'text is required.'])
    expect(await ask(`${secret}&from=1&text=a&lang=xx`)).toEqual([
      400,
      'INVALID_PARAMETERS',
      'lang must be one of en.',
    ])
    expect((await service.head(`/messages/sms?${secret}&from=1&text=a`)).status).toBe(405)
  })

  test('may post a form or JSON', async () => {
    const url = `POST /messages/sms?secret=${CHANNELS.SMS_SECRET}`
    const form = await service.ask(url, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ from: '+1', text: 'fert 9.5, 38.5', id: 'x' }).toString(),
    })
    const json = await service.ask(url, { payload: { from: '2', text: 'fert 9.5, 38.5', id: 'x' } })
    expect(form.text).toMatch(/^Demo data, not advice\. Fertilizer/)
    expect(json.text).toBe(form.text)
  })
})

const newSender = (from?: string) => createSender(() => service.app, from)
const get = (url: string) => service.get(encodeURI(url))

const segmentsOf = (text: string) => new SegmentedMessage(text, 'auto', false).segmentsCount

/** The numbers with their units, such as `4229 kg/ha`, in their order. */
const figuresIn = (text: string) =>
  [...text.matchAll(/(\d+(?:\.\d+)?)(?: \([^)]*\))? (?:kg|t)\/ha/g)].map(([, number]) => Number(number))
