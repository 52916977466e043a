import { execFile, spawnSync } from 'node:child_process'
import { appendFile, copyFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { draftFolder, NOTES } from './drafting.ts'
import { type BandToWrite, PLACES, smooth, writeRaster } from './drop.ts'

const testDatabase = ownDatabase('empty')

const draft = (folder: string) => draftFolder(testDatabase, folder)

const hasTerminal = !spawnSync('script', ['--version']).error

test('values of another unit, files for one layer, and a missing scenario are questions', async () => {
  const folder = await newFolder()
  const yieldOf = (word: string) => join(folder, `et_wheat_yield_${word}_202607.tif`)
  await writeRaster(yieldOf('normal'), [{ valueAt: smooth(1.5, 4.2) }], { notes: NOTES })
  await writeRaster(yieldOf('below'), [{ valueAt: smooth(1.1, 3.6) }], { notes: NOTES })
  await mkdir(join(folder, 'old'))
  await copyFile(yieldOf('below'), join(folder, 'old/et_wheat_yield_below_202607.tif'))
  const rates = (input: string, word: string) => join(folder, `et_wheat_${input}_${word}_202607.tif`)
  for (const word of ['normal', 'below'])
    await writeRaster(rates('urea', word), [{ valueAt: smooth(50, 300) }], { notes: NOTES })
  await writeRaster(rates('dap', 'normal'), [{ valueAt: smooth(50, 300) }], { notes: NOTES })
  const { drafted } = await draft(folder)
  const asked = drafted.questions.map(({ member, text, candidates }) => [member, text, candidates])
  expect(asked).toContainEqual([
    'scale',
    expect.stringContaining('these look like tonnes'),
    ['1000', 'keep it'],
  ])
  expect(asked).toContainEqual([
    'file',
    'et_wheat_yield_below_202607.tif and old/et_wheat_yield_below_202607.tif are both for Below Normal: which one counts?',
    ['et_wheat_yield_below_202607.tif', 'old/et_wheat_yield_below_202607.tif'],
  ])
  expect(asked).toContainEqual([
    'layers',
    'there is no file for DAP, Below Normal: publish without?',
    ['yes'],
  ])
})

test('a damaged file and the layer that is missing without it are one question', async () => {
  const folder = await newFolder()
  const rates = (input: string, word: string) => join(folder, `et_wheat_${input}_${word}_202607.tif`)
  for (const input of ['urea', 'dap'])
    for (const word of ['normal', 'below'])
      await writeRaster(rates(input, word), [{ valueAt: smooth(50, 300) }], { notes: NOTES })
  await truncate(rates('dap', 'below'), 9000)
  const out = join(folder, 'manifest.yaml')
  const { drafted } = await draft(folder)
  expect(drafted.questions.map(({ member, text }) => [member, text])).toEqual([
    [
      'file',
      expect.stringMatching(
        /et_wheat_dap_below.*: get it again, or leave it out, and publish without DAP, Below Normal\?$/,
      ),
    ],
  ])
  await rm(out)
  if (!hasTerminal) return
  await atTerminal(`draft ${folder}`, '1')
  expect(await readFile(out, 'utf8')).not.toContain('# ?')
})

/** What is asked of a folder with such layers. */
async function askedOf(
  layers: Record<string, BandToWrite['valueAt']>,
  options: Parameters<typeof writeRaster>[2] = {},
  ...texts: string[]
) {
  const folder = await newFolder()
  for (const name of texts) await writeFile(join(folder, name), 'Maize of season A, by the institute.')
  for (const [name, valueAt] of Object.entries(layers))
    await writeRaster(join(folder, `${name}_202607.tif`), [{ valueAt }], { notes: NOTES, ...options })
  const { drafted } = await draft(folder)
  const asked = drafted.questions.map(({ member, text, candidates }) => [member, text, candidates])
  return { asked, drafted, text: await readFile(drafted.manifests[0]?.manifest ?? '', 'utf8') }
}

test('files that unknown words distinguish are not asked about as files for one layer', async () => {
  const { asked } = await askedOf({
    et_wheat_urea_hoch: smooth(50, 200),
    et_wheat_urea_tief: smooth(40, 160),
  })
  const texts = asked.map(([, text]) => text)
  expect(texts).not.toContainEqual(expect.stringContaining('which one counts?'))
})

test('values that may be of several units are asked with all factors, and none is written', async () => {
  const { asked, text } = await askedOf({ et_sorghum_yield_normal: smooth(12, 45) })
  expect(asked).toContainEqual([
    'scale',
    expect.stringContaining(
      'these look like tonnes, like quintals, like bags of 50 kg or ten times too small',
    ),
    ['1000', '100', '50', '10', 'keep it'],
  ])
  expect(text).not.toMatch(/^ *scale:/m)
})

test.each([
  [0.1, ['10', 'keep it']],
  [10, ['0.1', 'keep it']],
])(
  'a file whose values are %s times those of its sisters is asked about, though both are plausible',
  async (factor, candidates) => {
    const { asked } = await askedOf({
      et_sorghum_yield_above: smooth(3000, 4500),
      et_sorghum_yield_normal: smooth(2500 * factor, 4200 * factor),
      et_sorghum_yield_below: smooth(2000, 3600),
    })
    expect(asked).toContainEqual([
      'scale',
      expect.stringMatching(
        /^et_sorghum_yield_normal_202607\.tif has a mean of .*, and its sisters have .*: is it in the same unit\?$/,
      ),
      candidates,
    ])
  },
)

const [WEST, NORTH, WIDE, HIGH] = PLACES.eth as [number, number, number, number]

test.each([
  ['a number', 'tile_1', 'tile_2', []],
  ['pixels, as exports have them', '0000000000-0000000000', '0000000000-0000000064', []],
  ['a word', 'east', 'west', [['file', expect.stringContaining('lie side by side: are they tiles of it?')]]],
])(
  'files side by side whose names differ by %s are one layer, or asked about',
  async (_, first, second, expected) => {
    const folder = await newFolder()
    for (const [at, tile] of [first, second].entries()) {
      const place: [number, number, number, number] = [WEST + 32 * at * WIDE, NORTH, WIDE / 2, HIGH]
      const file = join(folder, `et_wheat_yield_normal_202607-${tile}.tif`)
      await writeRaster(file, [{ valueAt: smooth(1500, 4000) }], { notes: NOTES, place })
    }
    const { drafted } = await draft(folder)
    expect(drafted.questions.map(({ member, text }) => [member, text])).toEqual(expected)
    const manifest = drafted.manifests[0]?.manifest ?? ''
    if (expected.length > 0) expect(drafted.questions[0]?.candidates[0]).toBe('all, as tiles of one layer')
    else {
      const files = [first, second].map((tile) => `et_wheat_yield_normal_202607-${tile}.tif`)
      expect(await readFile(manifest, 'utf8')).toContain(`  - files: [${files.join(', ')}]\n`)
      expect(drafted.manifests[0]?.layers).toMatchObject([{ file: files[0], files }])
      const { code, stderr } = await runAgro(testDatabase, 'ingest', manifest, '--dry-run')
      expect(code, stderr).toBe(0)
    }
  },
)

test('zeros around the values of a lone layer are asked about, in its corners or not', async () => {
  const valueAt = smooth(40, 190)
  const isCorner = (column: number, row: number) => column < 20 && row < 20
  const inCorner: BandToWrite['valueAt'] = (...place) => valueAt(...place) ?? (isCorner(...place) ? 41 : 0)
  for (const layer of [
    inCorner,
    (...place: [number, number]) => (isCorner(...place) ? undefined : inCorner(...place)),
  ]) {
    const { asked } = await askedOf({ et_wheat_urea_normal: layer })
    expect(asked).toContainEqual([
      'nodata',
      expect.stringMatching(/^0 is in [\d.]+ % of the pixels of .*: does it mean none\?/),
      expect.anything(),
    ])
  }
})

test.each<[string, BandToWrite['valueAt'], string]>([
  ['-9999 around the values', (...at) => smooth(40, 190)(...at) ?? -9999, '-9999'],
  ['one pixel of -9999', (column, row) => (column === 30 && row === 30 ? -9999 : 40 + column), '-9999'],
  ['1e20 around the values', (...at) => smooth(40, 190)(...at) ?? 1e20, '100000002004087730000'],
])(
  '%s of rates are no amount: they are taken as none, and the manifest says so',
  async (_, valueAt, value) => {
    const { asked, text } = await askedOf({ et_wheat_urea_normal: valueAt }, { nodata: null })
    expect(asked).toEqual([])
    const pattern = `^ {4}nodata: ${value} # in [\\d.]+ % of the pixels, and no amount in kg/ha: it means none$`
    expect(text).toMatch(new RegExp(pattern, 'm'))
  },
)

test('what a fill leaves of the values is held to other units as well', async () => {
  const filled: BandToWrite['valueAt'] = (...at) => smooth(1.5, 4.2)(...at) ?? -9999
  const { asked, text } = await askedOf({ et_wheat_yield_normal: filled }, { nodata: null })
  expect(asked).toEqual([['scale', expect.stringContaining('look like tonnes'), ['1000', 'keep it']]])
  expect(text).toMatch(/^ {4}nodata: -9999 # in /m)
})

test.each([
  ['255, which another unit makes an amount', 255],
  ['0', 0],
])('%s is asked about where it fills', async (_, fill) => {
  const { asked } = await askedOf(
    { et_wheat_urea_normal: (...at) => smooth(40, 110)(...at) ?? fill },
    { nodata: null },
  )
  expect(asked.map(([member]) => member)).toContain('nodata')
})

test.each<[string, [number, number, number, number]]>([
  ['of other pixels', [33, 14.9, 0.22, 0.19]],
  ['shifted by half a pixel', [33.115, 14.9, 0.23, 0.2]],
])('a layer on a grid %s beside others is named in the manifest and in the output', async (_, place) => {
  const folder = await newFolder()
  for (const input of ['urea', 'dap', 'nps']) {
    const options = { notes: NOTES, ...(input === 'nps' && { place }) }
    await writeRaster(
      join(folder, `et_wheat_${input}_normal_202607.tif`),
      [{ valueAt: smooth(50, 300) }],
      options,
    )
  }
  const { code, stdout } = await runAgro(testDatabase, 'draft', folder)
  expect(code).toBe(0)
  const note = 'on another grid than the others: '
  expect(stdout).toContain(`  et_wheat_nps_normal_202607.tif: NPS, Normal; ${note}`)
  expect(stdout.split(note)).toHaveLength(2)
  const text = await readFile(join(folder, 'manifest.yaml'), 'utf8')
  expect(text).toMatch(/^ {2}# on another grid than the others: .*\n {2}- file: et_wheat_nps_normal/m)
})

test.each([
  ['those of the seasons in turn', 1, []],
  [
    'none of the seasons',
    1.05,
    [
      [
        'scenario',
        expect.stringMatching(
          /^et_wheat_yield_dom_202607\.tif is for Dominant \("dom" in the name.*\), and 0\.\d+ % of its values are/,
        ),
        ['keep it', 'leave it out'],
      ],
    ],
  ],
])(
  'a layer of the likeliest season whose values are %s is taken, or asked about',
  async (_, factor, expected) => {
    const [above, normal, below] = [4200, 3000, 2100].map((high) => smooth(1500, high)) as [
      BandToWrite['valueAt'],
      BandToWrite['valueAt'],
      BandToWrite['valueAt'],
    ]
    const dominant: BandToWrite['valueAt'] = (column, row) => {
      const value = [above, normal, below][Math.floor(column / 22)]?.(column, row)
      return value && value * factor
    }
    const layers = { above, normal, below, dom: dominant }
    const { asked } = await askedOf(
      Object.fromEntries(
        Object.entries(layers).map(([word, valueAt]) => [`et_wheat_yield_${word}`, valueAt]),
      ),
    )
    expect(asked).toEqual(expected)
  },
)

test.each([
  ['yield_gap', 'gap'],
  ['yield_rmse', 'rmse'],
  ['yield_lbs_per_acre', 'lbs per acre'],
  ['yield_lb_ac', 'lb ac'],
  ['urea_bags', 'bags'],
])('what the names of all files of %s say is asked, once', async (what, word) => {
  const folder = await newFolder()
  for (const scenario of ['above', 'normal', 'below'])
    await writeRaster(
      join(folder, `eth_wheat_${what}_${scenario}_202608.tif`),
      [{ valueAt: smooth(1000, 2500) }],
      { notes: NOTES },
    )
  const { drafted } = await draft(folder)
  const about = drafted.questions.filter(({ text }) => text.startsWith(`"${word}" `))
  expect(about.map(({ files }) => files.length)).toEqual([3])
})

test('phosphate beside nitrogen is no phosphorus', async () => {
  const folder = await newFolder()
  for (const input of ['nitrogen', 'p2o5'])
    await writeRaster(join(folder, `eth_wheat_${input}_normal_202608.tif`), [{ valueAt: smooth(20, 90) }], {
      notes: NOTES,
    })
  const { drafted } = await draft(folder)
  const inputs = drafted.manifests.flatMap(({ layers }) => layers.map(({ input }) => input?.value))
  expect(inputs.toSorted()).toEqual(['N', 'P2O5'])
})

test('a unit of the file is converted, and its country is where it lies', async () => {
  const folder = await newFolder()
  const options = { notes: NOTES, unit: 't/ha', place: PLACES.rwa }
  for (const word of ['normal', 'below'])
    await writeRaster(join(folder, `potato_yield_${word}_2026-08.tif`), [{ valueAt: smooth(9, 21) }], options)
  const { code, drafted } = await draft(folder)
  expect([code, drafted.questions]).toEqual([0, []])
  const [manifest] = drafted.manifests
  expect(manifest?.country_code).toEqual({ value: 'rwa', from: expect.stringContaining('the extent 28.8, ') })
  expect(manifest?.layers[0]?.scale?.value).toBe('1000')
})

test('a unit that the name says, and values that contradict it, are shown both', async () => {
  const { asked } = await askedOf({ et_wheat_yield_t_ha_normal: smooth(1200, 4500) })
  expect(asked).toContainEqual([
    'scale',
    expect.stringMatching(
      /Write scale: 1\. That is with scale 1000 \("t ha" in the name: t\/ha into kg\/ha\)\.$/,
    ),
    ['1', 'keep it'],
  ])
})

test('conditions and their titles, and a crop, say what they were read from; a text beside the files is named', async () => {
  const { asked, text, drafted } = await askedOf(
    { rw_maize_yield_optimal_normal: smooth(1500, 4000), rw_maize_yield_farmer_normal: smooth(1000, 3000) },
    { place: PLACES.rwa, notes: {} },
    'README.txt',
  )
  const texts = asked.map(([, text]) => text)
  expect(texts).toContain(
    'of the conditions farmer practice ("farmer" in the name), optimal ("optimal" in the name), which one answers a call that names none?',
  )
  expect(texts).toContainEqual(expect.stringContaining('does not offer maize ("maize" in the name; rw_maize'))
  expect(texts).toContain('no metadata of a file name it (see README.txt): what does the catalog say?')
  expect(drafted.left_out).toMatchObject([{ file: 'README.txt' }])
  expect(text).toContain(
    '  question: How is the crop fertilized? # of these conditions in the table of words\n',
  )
  expect(text).toContain('    optimal: With the best rates # "optimal" in the name\n')
})

test('a name that contradicts the place is a question', async () => {
  const folder = await newFolder()
  const options = { notes: NOTES, place: PLACES.rwa }
  await writeRaster(
    join(folder, 'et_wheat_yield_normal_202607.tif'),
    [{ valueAt: smooth(900, 4200) }],
    options,
  )
  const { drafted } = await draft(folder)
  expect(drafted.questions.map(({ member, text, candidates }) => [member, text, candidates])).toContainEqual([
    'country_code',
    expect.stringContaining('says eth, and the extent 28.8, '),
    ['eth', 'rwa'],
  ])
})

const CTRL_C = '\u0003'

describe('at a terminal', () => {
  let folder: string
  beforeAll(async () => {
    folder = await newFolder()
    await writeFile(join(folder, 'LISEZMOI.txt'), 'By the institute of tests.')
    for (const word of ['abvoe', 'normal']) {
      await writeRaster(join(folder, `et_wheat_nps_${word}_202607.tif`), [{ valueAt: smooth(30, 199) }], {
        notes: { licence: 'CC0-1.0' },
      })
    }
  })

  test.skipIf(!hasTerminal)(
    'questions are asked one by one, by number or text, with what the file has',
    async () => {
      const shown = await atTerminal(`draft ${folder}`, 'perhaps', 'yes', 'Institute of tests')
      const ways = '1 to 2 for one of these, yes, no, for example "Below Normal", or later'
      expect(shown).toContain(`That is not understood. Type ${ways}.`)
      expect(shown).toMatch(
        /Read LISEZMOI\.txt first.*scenario: "abvoe" in the name is nearly "above".*\(1 more to answer\)/s,
      )
      expect(shown).toMatch(
        /minimum 30, mean [\d.]+, maximum 199, values in [\d.]+ % of the pixels; extent 33, 3\.3, 47\.72, 14\.9/,
      )
      const text = await readFile(join(folder, 'manifest.yaml'), 'utf8')
      expect(text).toContain('    scenario: Above Normal')
      expect(text).toContain('source: Institute of tests # as given')
      expect(text).not.toContain('# ?')
    },
  )

  test.skipIf(!hasTerminal)(
    'what was typed before and Enter alone are no answers, and a second run goes on where the first was left',
    async () => {
      const out = join(folder, 'second.yaml')
      const command = `draft ${folder} --out ${out}`
      // A terminal echoes what is typed before the first question.
      const shown = await atTerminal(command, ['2', '2', '2'], '', '1', 'later')
      expect(shown).toContain('Nothing is chosen by Enter alone.')
      expect(shown).toContain('one question to answer')
      const first = await readFile(out, 'utf8')
      expect(first.match(/^ *# \? /gm)).toHaveLength(1)
      expect(first).toContain('# answered: ["word abvoe","scenario: Above Normal"]\n')
      expect(await atTerminal(command, CTRL_C)).toContain('what is answered is written')
      expect(await readFile(out, 'utf8')).toBe(first)
      expect(await atTerminal(command, 'Institute of tests')).toContain('nothing is uncertain')
      expect(await readFile(out, 'utf8')).not.toContain('# answered')
      const refused = await atTerminal(command)
      expect(refused).toContain('second.yaml is there already')
      expect(refused).not.toContain('reading')
    },
  )

  test.skipIf(!hasTerminal)(
    'of several manifests, those without questions are gone on with as well',
    async () => {
      const several = await newFolder()
      for (const name of ['et_wheat_yield_normal', 'et_wheat_urea_abvoe', 'et_wheat_urea_normal']) {
        const file = join(several, `${name}_202607.tif`)
        await writeRaster(file, [{ valueAt: smooth(210, 1200) }], { notes: NOTES })
      }
      expect(await atTerminal(`draft ${several}`, 'later')).toContain('one question to answer')
      expect(await atTerminal(`draft ${several}`, '1')).toContain('nothing is uncertain')
    },
  )

  test.skipIf(!hasTerminal)('a draft that was changed by hand is not written over', async () => {
    const out = join(folder, 'third.yaml')
    await atTerminal(`draft ${folder} --out ${out}`, CTRL_C)
    await appendFile(out, '# mine\n')
    expect(await atTerminal(`draft ${folder} --out ${out}`)).toContain(
      '--force asks anew and writes over it.',
    )
    expect(await readFile(out, 'utf8')).toContain('# mine')
  })
})

/** @param replies to questions; what is in a list is typed at once */
async function atTerminal(command: string, ...replies: (string | string[])[]): Promise<string> {
  const run = promisify(execFile)(
    'script',
    ['-qec', `${process.execPath} bin/run.mjs src/cli/agro.ts ${command}`, '/dev/null'],
    { env: { ...process.env, ...testDatabase.environment } },
  )
  const { stdin, stdout } = run.child
  while (Array.isArray(replies[0])) stdin?.write((replies.shift() as string[]).join('\n'))
  stdout?.on('data', (text: string) => {
    if (!/or "later": $/.test(text)) return
    const reply = replies.shift()
    stdin?.write(reply === CTRL_C ? reply : `${reply ?? 'later'}\n`)
  })
  return (await run.catch((error) => error)).stdout
}

test('a fill is asked about once for all files of an input, and one beside a nodata value in use is mended in its file', async () => {
  const folder = await newFolder()
  const write = (name: string, valueAt: BandToWrite['valueAt'], options = {}) =>
    writeRaster(join(folder, `et_wheat_${name}_202607.tif`), [{ valueAt }], { notes: NOTES, ...options })
  for (const word of ['normal', 'below']) {
    await write(`urea_${word}`, smooth(5, 39), { nodata: null, fill: 0 })
    const inTwo: BandToWrite['valueAt'] = (...place) =>
      smooth(60, 160)(...place) ?? (place[1] < 9 ? undefined : -1)
    await write(`dap_${word}`, inTwo)
  }
  const { drafted } = await draft(folder)
  expect(drafted.questions.map(({ text, candidates }) => [text, candidates])).toEqual([
    [
      expect.stringMatching(/^-1 is in .*gdalwarp -srcnodata -1 .* The same holds for 1 more\.$/),
      ['keep it'],
    ],
    [
      expect.stringMatching(/^0 is in .*does it mean none\? .* The same holds for 1 more\.$/),
      ['0', 'keep it'],
    ],
  ])
  const text = await readFile(drafted.manifests[0]?.manifest ?? '', 'utf8')
  expect(text.match(/^ *nodata: .*$/gm)).toEqual(Array(2).fill('    nodata: 0 # the question above'))
})

test('a unit that is none of the product, letters beside a certain word, and odds of what restates a season are asked', async () => {
  const folder = await newFolder()
  const valueAt = smooth(40, 200)
  await writeRaster(join(folder, 'et_wheat_urea_k_normal_202607.tif'), [{ valueAt }], {
    notes: NOTES,
    unit: 'bags',
  })
  await writeRaster(join(folder, 'et_wheat_urea_dominant_202607.tif'), [{ valueAt }], { notes: NOTES })
  await writeRaster(join(folder, 'et_odds_dominant_202607.tif'), [{ valueAt: () => 0.4 }], { notes: NOTES })
  const { drafted } = await draft(folder)
  expect(drafted.questions.map(({ member, text }) => [member, text])).toEqual([
    ['input', '"k" in the name may mean other things: is it K?'],
    ['unit', 'et_wheat_urea_k_normal_202607.tif has the unit "bags": are the values in kg/ha?'],
    ['role', expect.stringContaining('there is no layer that et_odds_dominant_202607.tif is about')],
  ])
})
