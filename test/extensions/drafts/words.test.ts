import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Band, Drop } from '#src/extensions/drafts/bands.ts'
import { readAnswer } from '#src/extensions/drafts/dialogue.ts'
import { sortBands } from '#src/extensions/drafts/releases.ts'
import { type Catalogue, readVocabulary } from '#src/extensions/drafts/vocabulary.ts'
import { runsOf } from '#test/setup/property-runs.ts'

const CATALOGUE: Catalogue = {
  countries: [
    entryOf('eth', 'Ethiopia', ['et', 'ethiopie'], ['wheat'], [32.9, 3.3, 48.1, 15]),
    entryOf('gha', 'Ghana', ['gh'], [], [-3.4, 4.5, 1.3, 11.3]),
    entryOf('ken', 'Kenya', ['ke', 'kenia'], [], [33.8, -4.8, 42, 5.6]),
    entryOf('rwa', 'Rwanda', ['rw', 'ruanda'], ['potato'], [28.8, -2.9, 30.95, -1]),
  ],
  crops: [
    { code: 'potato', name: 'Potato', aliases: [], countries: ['rwa'] },
    { code: 'wheat', name: 'Wheat', aliases: [], countries: ['eth'] },
  ],
  names: [{ product: 'fertilizer', inputs: ['Urea', 'DAP'], scenarios: [] }],
}

const vocabulary = await readVocabulary(CATALOGUE)

interface Expected {
  product?: string
  country?: string
  crop?: string
  month?: string
  input?: string
  scenario?: string
  condition?: string
  role?: string
}

// Names as institutes write them: other orders, cases, signs and words. Each is read as a file of its own.
const SINGLE: [file: string, expected: Expected][] = [
  [
    'ETH_WHEAT_UREA_ABOVE_202607.TIF',
    {
      product: 'fertilizer',
      country: 'eth',
      crop: 'wheat',
      input: 'Urea',
      scenario: 'Above Normal',
      month: '2026-07',
    },
  ],
  [
    '2026-07 Ethiopia wheat DAP below normal.tif',
    { country: 'eth', input: 'DAP', scenario: 'Below Normal', month: '2026-07' },
  ],
  [
    'NPS-BelowNormal-Jul22-EthWheat.tiff',
    { country: 'eth', crop: 'wheat', input: 'NPS', scenario: 'Below Normal', month: '2022-07' },
  ],
  [
    'rw.potato.compost.abv.august_2026.tif',
    {
      product: 'isfm',
      country: 'rwa',
      crop: 'potato',
      input: 'Compost',
      scenario: 'Above Normal',
      month: '2026-08',
    },
  ],
  [
    'Rwanda_Potato_Vermi-Compost_Near_Normal_2026aug.tif',
    { product: 'isfm', input: 'Vermicompost', scenario: 'Normal', month: '2026-08' },
  ],
  [
    'rwanda_potato_yield_dominant_082026.tif',
    { product: 'yield', country: 'rwa', crop: 'potato', scenario: 'Dominant', month: '2026-08' },
  ],
  ['ken_forage_chloris_gayana.tif', { product: 'forage', country: 'ken', input: 'Chloris gayana' }],
  ['Kenya Rhodes grass suitability.tif', { product: 'forage', country: 'ken', input: 'Chloris gayana' }],
  [
    'gh_suitability_megathyrsus-maximus.tif',
    { product: 'forage', country: 'gha', input: 'Megathyrsus maximus' },
  ],
  ['GHANA-forage-Lablab.tif', { product: 'forage', country: 'gha', input: 'Lablab purpureus' }],
  [
    'Éthiopie_blé_rendement_normal_juillet_2026.tif',
    { product: 'yield', country: 'eth', crop: 'wheat', scenario: 'Normal', month: '2026-07' },
  ],
  [
    'wheatyield_normal_202607_eth_v20261130.tif',
    { product: 'yield', crop: 'wheat', scenario: 'Normal', month: '2026-07' },
  ],
  [
    'eth_wheat_optimal_nutrients_p_jja_probablistic_normal_202207.tif',
    { product: 'fertilizer', input: 'P', scenario: 'Normal', month: '2022-07' },
  ],
]

test.each([
  ['SUPERIEURE-A-LA-NORMALE', 'Above Normal'],
  ['Inférieure_à_la_normale', 'Below Normal'],
  ['sous la normale', 'Below Normal'],
  ['PROCHE DE LA NORMALE', 'Normal'],
  ['NORMALE', 'Normal'],
  ['Dominante', 'Dominant'],
])('names in French are read: %s', (words, scenario) => {
  const [layer, low] = read(
    ['', '_borne_inf'].map((end) => `RWANDA_POMME-DE-TERRE_RENDEMENT${end}_${words}_août2026.TIF`),
  )
  const said = { product: 'yield', country: 'rwa', crop: 'potato', scenario, month: '2026-08' }
  expect([layer, low]).toMatchObject([
    { said, asked: [] },
    { said: { ...said, role: 'low' }, asked: [] },
  ])
})

test.each(SINGLE)('%s is read', (file, expected) => {
  const [band] = read([file])
  expect(band?.said).toMatchObject(expected)
  expect(band?.asked.filter((member) => member in expected)).toEqual([])
})

test('moyenne is a season beside two others, and the middle of a range beside its ends', () => {
  const seasons = ['humide', 'moyenne', 'sèche'].map(
    (word) => `ETH - dose Urée - blé - année ${word} - 2026 juillet.tif`,
  )
  const said = read(seasons)
  expect(said.map(({ said }) => said.scenario)).toEqual(['Above Normal', 'Normal', 'Below Normal'])
  expect(said.flatMap(({ asked }) => asked)).toEqual([])
  const ends = ['borne_inf', 'moyenne', 'borne_sup'].map(
    (word) => `eth_ble_rendement_normale_${word}_202607.tif`,
  )
  expect(read(ends).map(({ said }) => said.role)).toEqual(['low', undefined, 'high'])
})

test('letters count where sisters have others at their place, and are a question alone', () => {
  const sisters = ['an', 'nn', 'bn'].map((word) => `eth_wheat_urea_${word}_202607.tif`)
  expect(read(sisters).map(({ said }) => said.scenario)).toEqual(['Above Normal', 'Normal', 'Below Normal'])
  const [alone] = read(['eth_wheat_urea_an_202607.tif'])
  expect([alone?.said.scenario, alone?.asked]).toEqual([undefined, expect.arrayContaining(['scenario'])])
  const nutrients = ['n', 'p', 'urea'].map((word) => `eth_wheat_${word}_normal_202607.tif`)
  expect(read(nutrients).map(({ said }) => said.input)).toEqual(['N', 'P', 'Urea'])
})

test('ends of a range are roles beside their layer', () => {
  const files = ['', '_p10', '_p90'].map((end) => `rwa_potato_yield_normal${end}_202608.tif`)
  expect(read(files).map(({ said }) => said.role)).toEqual([undefined, 'low 0.1', 'high 0.9'])
  const named = ['low', 'mean', 'high'].map((end) => `rwa_potato_yield_normal_${end}_202608.tif`)
  expect(read(named).map(({ said }) => said.role)).toEqual(['low', undefined, 'high'])
  const [alone] = read(['rwa_potato_yield_normal_low_202608.tif'])
  expect(alone?.asked).toContain('role')
})

test('a letter too many, too few or other is a question with its word, and the answer counts', () => {
  const files = ['abvoe', 'normal'].map((word) => `eth_wheat_nps_${word}_202607.tif`)
  const { questions } = sort(files)
  expect(questions.map(({ id, candidates }) => [id, candidates])).toContainEqual([
    'word abvoe',
    ['scenario: Above Normal', 'nothing'],
  ])
  const answered = sort(files, [['word abvoe', 'scenario: Above Normal']])
  expect(answered.releases[0]?.layers[0]?.members.scenario?.value).toBe('Above Normal')
})

test.each(['area', 'change', 'field', 'store', 'mass'])('%s is no misspelt word of the table', (word) => {
  const { questions } = sort([`eth_wheat_urea_${word}_normal_202607.tif`])
  expect(questions.map(({ text, candidates }) => [text, candidates])).toEqual([
    [`"${word}" in the name is not known: what does it mean?`, ['nothing']],
  ])
})

test('a word that no table has is a question, of some files or of all; who publishes them is none', () => {
  const all = ['above', 'normal'].map((word) => `ciat_eth_wheat_urea_${word}_202607.tif`)
  expect(sort(all).questions).toEqual([])
  const [first = ''] = all
  const { questions } = sort([...all, first.replace('ciat_', 'ciat_oromia_')])
  expect(questions.map(({ id }) => id)).toContain('word oromia')
  const gaps = all.map((name) => name.replace('urea', 'yield_gap'))
  expect(sort(gaps).questions.map(({ id }) => id)).toEqual(['word gap'])
})

test('what names contradict is a question', () => {
  const [band] = read(['eth_wheat_urea_above_below_202607.tif'])
  expect(band?.asked).toContain('scenario')
  expect(read(['eth_wheat_compost_urea_normal_202607.tif'])[0]?.asked).toContain('input')
  expect(read(['eth_wheat_yield_urea_normal_202607.tif'])[0]?.asked).toContain('product')
})

test('folders say what names do not', () => {
  const [band] = read(['eth/wheat/2026-07/urea_below.tif'])
  expect(band?.said).toMatchObject({
    country: 'eth',
    crop: 'wheat',
    month: '2026-07',
    scenario: 'Below Normal',
  })
})

test.each(['jul22', '2022-07', '202207', '2022/07', '2022/july', '2022/07_july', '2022/07/maps'])(
  'the month of a folder %s is read',
  (folder) => {
    const [band] = read([`${folder}/eth_wheat_urea_below.tif`])
    expect([band?.said.month, band?.asked]).toEqual(['2022-07', []])
  },
)

const COUNTRIES = {
  eth: ['et', 'eth', 'Ethiopia', 'Ethiopie'],
  rwa: ['rw', 'rwa', 'Rwanda', 'Ruanda'],
} as const
const SCENARIOS = vocabulary.listOf('scenario').map(({ means }) => means)
const MONTHS: Record<string, string[]> = {
  '2026-07': ['202607', '2026-07', 'jul26', 'jul2026', 'July 2026', '2026july', '072026', '2026_07'],
  '2022-11': ['202211', '2022-11', 'nov22', 'november_2022', '2022nov'],
}
/** All spellings that the table has of a meaning. */
const SPELLINGS: Record<string, string[]> = {
  'Above Normal': ['above', 'above normal', 'abv', 'AboveNormal', 'above average', 'an', 'wet'],
  Normal: ['normal', 'near normal', 'norm', 'nrm', 'nn', 'avg'],
  'Below Normal': ['below', 'below normal', 'blw', 'bn', 'dry'],
  Dominant: ['dominant', 'most likely', 'dom'],
  Urea: ['urea', 'Urea'],
  DAP: ['dap', 'DAP'],
  NPS: ['nps'],
  NPK: ['npk'],
  P: ['p', 'nutrients p', 'phosphorus'],
  Compost: ['compost'],
  Vermicompost: ['vermicompost', 'vermi compost'],
  Manure: ['manure', 'fym'],
}
const OF: Record<string, string> = { Compost: 'isfm', Vermicompost: 'isfm', Manure: 'isfm' }
const CASES = [
  (text: string) => text,
  (text: string) => text.toLowerCase(),
  (text: string) => text.toUpperCase(),
]

const name = fc
  .record({
    country: fc.constantFrom('eth', 'rwa'),
    input: fc.constantFrom('Urea', 'DAP', 'NPS', 'NPK', 'P', 'Compost', 'Vermicompost', 'Manure'),
    scenario: fc.constantFrom(...SCENARIOS),
    month: fc.constantFrom(...Object.keys(MONTHS)),
    picks: fc.array(fc.nat(), { minLength: 5, maxLength: 5 }),
    extras: fc.subarray(['jja', 'probabilistic', 'forecast', 'v2', '01']),
    order: fc.array(fc.nat(), { minLength: 10, maxLength: 10 }),
    sign: fc.constantFrom('_', '-', '.', ' ', '__'),
    form: fc.nat({ max: CASES.length - 1 }),
  })
  .map(({ country, input, scenario, month, picks, extras, order, sign, form }) => {
    const pick = (list: readonly string[], at: number) => list[(picks[at] as number) % list.length] as string
    const crop = country === 'eth' ? 'wheat' : 'potato'
    const words = [
      pick(COUNTRIES[country as 'eth'], 0),
      pick(SPELLINGS[input] as string[], 1),
      pick(SPELLINGS[scenario] as string[], 2),
      pick(MONTHS[month] as string[], 3),
      crop,
      ...extras,
    ]
    const shuffled = words
      .map((word, at) => ({ word, rank: order[at] as number }))
      .sort((a, b) => a.rank - b.rank)
    const spelled = shuffled.map(({ word }) => word.replaceAll(' ', sign)).join(sign)
    const expected = { country, crop, input, scenario, month, product: OF[input] ?? 'fertilizer' }
    return { file: `${(CASES[form] as (typeof CASES)[0])(spelled)}.tif`, expected }
  })

test('names made from the table in any order and case are read back right, or asked about', () => {
  let silent = 0
  let right = 0
  fc.assert(
    fc.property(name, ({ file, expected }) => {
      const [band] = read([file])
      for (const [member, value] of Object.entries(expected)) {
        const said = band?.said[member as keyof Expected]
        const isAsked = band?.asked.includes(member)
        if (said === value && !isAsked) right++
        else silent++
        expect(isAsked || said === value, `${file}: ${member} is ${said}`).toBe(true)
      }
    }),
    { numRuns: runsOf(400) },
  )
  // Most need no question: else each name could be one.
  expect(right).toBeGreaterThan(4 * silent)
})

const folder = fc
  .record({
    country: fc.constantFrom('eth' as const, 'rwa' as const),
    inputs: fc.uniqueArray(fc.constantFrom('Urea', 'DAP', 'NPS', 'P'), { minLength: 2 }),
    scenarios: fc.uniqueArray(fc.constantFrom(...SCENARIOS), { minLength: 2 }),
    month: fc.constantFrom(...Object.keys(MONTHS)),
    picks: fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
    order: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
    sign: fc.constantFrom('_', '-', '.', ' '),
    form: fc.nat({ max: CASES.length - 1 }),
  })
  .map(({ country, inputs, scenarios, month, picks, order, sign, form }) => {
    const pick = (list: readonly string[], at: number) => list[(picks[at] as number) % list.length] as string
    const crop = country === 'eth' ? 'wheat' : 'potato'
    const spelled = (name: string, at: number) => pick(SPELLINGS[name] as string[], at)
    return inputs.flatMap((input, own) =>
      scenarios.map((scenario, at) => {
        const words = [
          pick(COUNTRIES[country], 0),
          spelled(input, 1 + own),
          spelled(scenario, 5 + at),
          pick(MONTHS[month] as string[], 10),
          crop,
          'jja',
        ]
        const shuffled = words
          .map((word, place) => ({ word, rank: order[place] as number }))
          .sort((a, b) => a.rank - b.rank)
        const text = shuffled.map(({ word }) => word.replaceAll(' ', sign)).join(sign)
        const expected = { country, crop, input, scenario, month, product: 'fertilizer' }
        return { file: `${(CASES[form] as (typeof CASES)[0])(text)}.tif`, expected }
      }),
    )
  })

test('so are those of a folder, whose files say more together', () => {
  let [right, asked] = [0, 0]
  fc.assert(
    fc.property(folder, (files) => {
      const bands = read(files.map(({ file }) => file))
      files.forEach(({ file, expected }, at) => {
        for (const [member, value] of Object.entries(expected)) {
          const said = bands[at]?.said[member as keyof Expected]
          const isAsked = bands[at]?.asked.includes(member)
          if (isAsked) asked++
          else right++
          expect(isAsked || said === value, `${file}: ${member} is ${said}`).toBe(true)
        }
      })
    }),
    { numRuns: runsOf(200) },
  )
  expect(right).toBeGreaterThan(10 * asked)
})

function sort(files: string[], answers: [string, string][] = []) {
  const bands = files.map((file): Band => ({ path: `/drop/${file}`, file, number: 1, count: 1, notes: {} }))
  const drop: Drop = { folder: '/drop', bands, leftOut: [], joined: new Map(), matched: new Map() }
  return sortBands(drop, CATALOGUE, vocabulary, new Map(answers))
}

/** What is read of each file, and the members that are asked about. */
function read(files: string[]) {
  const { releases, questions } = sort(files)
  return files.map((file) => {
    const release = releases.find(({ layers }) => layers.some(({ band }) => band.file === file))
    const layer = release?.layers.find(({ band }) => band.file === file)
    const all = { ...release?.head, ...layer?.members }
    const said: Expected = Object.fromEntries(
      Object.entries(all).map(([kind, guess]) => [kind, guess?.value]),
    )
    const own = questions.filter(({ bands }) => bands.some((band) => band.file === file))
    const asked = own.map(({ member }) => NAMES[member] ?? member)
    return { said, asked }
  })
}

const NAMES: Record<string, string> = { country_code: 'country', forecast_period: 'month' }

function entryOf(
  code: string,
  name: string,
  aliases: string[],
  crops: string[],
  extent: [number, number, number, number],
) {
  return { code, name, aliases, crops, extent, levels: [] }
}

test('one answer says what all files lack, and an order what bands without names are', () => {
  const files = ['urea', 'dap'].map((word) => `eth_wheat_${word}_202607.tif`)
  const [asked] = sort(files).questions
  expect([asked?.member, asked?.bands.length]).toEqual(['scenario', 2])
  const answered = sort(files, [[asked?.id ?? '', 'below']])
  expect(answered.questions).toEqual([])
  const scenarios = answered.releases[0]?.layers.map(({ members }) => members.scenario?.value)
  expect(scenarios).toEqual(['Below Normal', 'Below Normal'])
  const bands = [1, 2, 3].map((number) => ({
    path: '/drop/a',
    file: 'eth_wheat_urea_202607.tif',
    number,
    count: 3,
    notes: {},
  }))
  const order = sortBands(
    { folder: '/drop', bands, leftOut: [], joined: new Map(), matched: new Map() },
    CATALOGUE,
    vocabulary,
    new Map([['bands eth_wheat_urea_202607.tif', 'above, normal, below']]),
  )
  expect(order.questions).toEqual([])
  expect(order.releases[0]?.layers.map(({ members }) => members.scenario?.value)).toEqual([
    'Above Normal',
    'Normal',
    'Below Normal',
  ])
})

test.each([
  ['forecast_period', 'word 20260715', 'Jul 2026', 'month: 2026-07'],
  ['forecast_period', 'month of a.tif', '2026-7', undefined],
  ['scale', 'scale a.tif', '1', '1000'],
  ['scale', 'scale a.tif', '100', '100'],
  ['scale', 'scale a.tif', 'tonnes', undefined],
  ['scale', 'scale a.tif', 'keep', 'keep it'],
  ['source', 'source', '3', undefined],
  ['source', 'source', 'CIAT 2026', 'CIAT 2026'],
  ['input', 'word cbe', 'cbe', undefined],
  ['input', 'word cbe', 'input: CBE', 'input: CBE'],
  ['input', 'word cbe', 'nps', 'nps'],
  ['country_code', 'country of a.tif', 'Kenya', 'ken'],
  ['country_code', 'country of a.tif', 'Atlantis', undefined],
])('a question about %s (%s) is answered by %s with %s', (member, id, reply, expected) => {
  const candidates = member === 'scale' ? ['1000', 'keep it'] : []
  expect(readAnswer({ id, member, text: '', candidates, bands: [], isOpen: true }, reply, vocabulary)).toBe(
    expected,
  )
})

const FILES = ['a.tif', 'old/a.tif']
test.each<[candidates: string[], replies: string[], expected: string | undefined, isYesNo?: boolean]>([
  [['[extent]'], ['y', 'YES', '1', 'extent', '[extent]', '[[extent]]', '"extent"'], '[extent]'],
  [['[extent]'], ['no', 'n', '2', 'nothing', ''], undefined],
  [['keep it', 'leave it out'], ['yes', '1', 'Keep', 'keep it.'], 'keep it'],
  [['keep it', 'leave it out'], ['No', 'n', 'leave', '(2)'], 'leave it out'],
  [FILES, ['2', 'old/a.tif'], 'old/a.tif', false],
  [FILES, ['yes', 'a', 'tif'], undefined, false],
])('of %j, %j are answers', (candidates, replies, expected, isYesNo = true) => {
  const question = { id: 'part', member: 'allow', text: '', candidates, bands: [], isOpen: false, isYesNo }
  for (const reply of replies) expect(readAnswer(question, reply, vocabulary), reply).toBe(expected)
})

test('n is no nutrient, and no answer about a word that may be one', () => {
  const [question] = sort(['eth_wheat_n_normal_202607.tif']).questions
  expect(question?.text).toBe('"n" in the name may mean other things: is it N?')
  const answers = ['n', 'no', 'yes'].map((reply) => readAnswer(question as never, reply, vocabulary))
  expect(answers).toEqual([undefined, 'nothing', 'input: N (fertilizer)'])
})
