import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '#test/setup/app.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { zarrBytes, zarrField } from '#test/setup/zarr.ts'
import { type Drafted, draftFolder, GIVEN, NOTES } from './drafting.ts'
import { PLACES, smooth, writeRaster, writeSeason } from './drop.ts'

const testDatabase = ownDatabase('empty')

const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

const draft = (folder: string, ...options: string[]) => draftFolder(testDatabase, folder, ...options)

describe('a season of 32 layers with five faults', () => {
  let folder: string
  let expected: Awaited<ReturnType<typeof writeSeason>>
  let drafted: Drafted
  beforeAll(async () => {
    folder = await newFolder()
    expected = await writeSeason(folder)
    const made = await draft(folder, ...GIVEN)
    expect(made.code).toBe(3)
    drafted = made.drafted
  })

  test('has every layer right or asked about, and none silently wrong', () => {
    expect(expected).toHaveLength(32)
    const wrong = expected.flatMap((layer) => {
      const manifest = drafted.manifests.find(({ layers }) =>
        layers.some((one) => one.file === layer.file && one.band === layer.band),
      )
      const found = manifest?.layers.find((one) => one.file === layer.file && one.band === layer.band)
      const asked = drafted.questions
        .filter(({ files }) => files.includes(layer.file))
        .map(({ member }) => member)
      const head = { product: manifest?.product?.value, country: manifest?.country_code?.value }
      const said = {
        ...head,
        ...Object.fromEntries(
          (['input', 'scenario', 'condition'] as const).map((member) => [member, found?.[member]?.value]),
        ),
      }
      const { file: _, band: __, ...labels } = { ...layer, country: 'eth' }
      return Object.entries(labels)
        .filter(([member, value]) => said[member as keyof typeof said] !== value && !asked.includes(member))
        .map(
          ([member, value]) =>
            `${layer.file}: ${member} is ${said[member as keyof typeof said]}, not ${value}`,
        )
    })
    expect(wrong).toEqual([])
    expect(drafted.manifests.map(({ manifest }) => manifest.slice(folder.length))).toEqual([
      '/manifest-fertilizer-eth-wheat-2026-07.yaml',
      '/manifest-yield-eth-wheat-2026-07.yaml',
    ])
  })

  test.each([
    ['the misspelt name', 'abvoe', /^"abvoe" in the name is nearly "above"/, 'scenario'],
    [
      'the file that is cut off',
      'nps_jja_probabilistic_normal',
      /(cannot be read|cut off|damaged|ends)/,
      'file',
    ],
    ['0 instead of no value', 'nutrients_p_jja_probablistic_above', /^0 is in /, 'nodata'],
    ['the other grid', 'urea_jja_probabilistic_dominant', /has another grid than its sisters/, 'file'],
  ])('%s is a question', (_, part, text, member) => {
    const found = drafted.questions.filter(({ files }) => files.some((file) => file.includes(part)))
    expect(found.map((one) => [one.member, one.text])).toContainEqual([member, expect.stringMatching(text)])
  })

  test('takes -9999, which no rate is, as no value where it is not declared', () => {
    const [layer] = drafted.manifests
      .flatMap(({ layers }) => layers)
      .filter(({ file }) => file.includes('urea_jja_probabilistic_below'))
    expect(layer?.nodata).toEqual({ value: '-9999', from: expect.stringContaining('no amount in kg/ha') })
  })

  test('asks no more than the other faults and the main condition, and lists the other files', () => {
    expect(drafted.questions.map(({ member }) => member).toSorted()).toEqual([
      'default',
      'file',
      'file',
      'nodata',
      'scenario',
    ])
    expect(drafted.left_out).toEqual([
      { file: 'README.txt', reason: expect.stringContaining('a text, which is not read') },
      { file: 'Thumbs.db', reason: expect.anything() },
    ])
  })

  test('has each question in its manifest, which ingest refuses with the line', async () => {
    for (const { text, places } of drafted.questions) {
      for (const { manifest, line } of places) {
        const lines = (await readFile(manifest, 'utf8')).split('\n')
        expect(lines[line - 1]).toMatch(/^ *# \? /)
        expect(lines[line - 1]).toContain(text)
      }
    }
    const [manifest = ''] = drafted.manifests.map(({ manifest }) => manifest)
    const { code, stderr, stdout } = await agro('ingest', manifest, '--json')
    const answer = JSON.parse(stdout)
    expect([code, answer.code]).toEqual([1, 'QUESTIONS'])
    // A manifest lists what it is about in its lines.
    const all = drafted.questions.flatMap(({ places, ...question }) =>
      places
        .filter((one) => one.manifest === manifest)
        .map((place) => ({ ...question, files: [], places: [place] })),
    )
    expect(answer.questions).toEqual(
      all.toSorted((a, b) => (a.places[0]?.line ?? 0) - (b.places[0]?.line ?? 0)),
    )
    const first = drafted.questions.flatMap(({ places }) => places).find((one) => one.manifest === manifest)
    expect(stderr).toContain(`${manifest}:${first?.line}: is a question: `)
  })

  test('is written over only where that is wanted', async () => {
    const { code, stdout } = await agro('draft', folder, '--json')
    expect([code, JSON.parse(stdout).code]).toEqual([1, 'ALREADY_THERE'])
    expect((await draft(folder, '--force', ...GIVEN)).code).toBe(3)
  })
})

describe('a folder in which nothing is uncertain', () => {
  const sample = 'examples/season'

  test('is drafted, and its manifest loaded', async () => {
    const out = join(await newFolder(), 'potato.yaml')
    const { code, drafted } = await draft(sample, '--out', out)
    expect([code, drafted.questions]).toEqual([0, []])
    const [fertilizer] = drafted.manifests
    expect(fertilizer?.manifest).toBe(out.replace('.yaml', '-fertilizer-rwa-potato-2026-08.yaml'))
    const text = await readFile(fertilizer?.manifest ?? '', 'utf8')
    expect(text).toContain('    scenario: Below Normal # "below" in the name\n')
    const { code: loaded, stderr } = await agro('ingest', fertilizer?.manifest ?? '', '--dry-run')
    expect(loaded, stderr).toBe(0)
  })

  test('is published without a manifest, pixel by pixel, and says what was read', async () => {
    const { code, stdout, stderr } = await agro('ingest', sample, '--json')
    expect(code, stderr).toBe(0)
    const { releases } = JSON.parse(stdout)
    expect(
      releases.map(({ release, published }: { release: string; published: boolean }) => [release, published]),
    ).toEqual([
      ['synthetic-fertilizer-rwa-potato-2026-08-v1', true],
      ['synthetic-yield-rwa-potato-2026-08-v1', true],
    ])
    expect(stderr).toContain('  rw_potato_urea_below_202608.tif: Urea, Below Normal\n')
    const service = await startApp(testDatabase.config)
    const query = { lat: '-1.94', lng: '29.9', country_code: 'rwa', crop: 'potato' }
    const { body } = await service.get('/advisory/fertilizer/point', { query })
    const [column, row] = [47, 23]
    for (const { fertilizer_type, scenario, rate_kg_ha } of body.fertilizer_data) {
      const word = scenario.toLowerCase().split(' ')[0]
      const file = join(sample, `rw_potato_${fertilizer_type.toLowerCase()}_${word}_202608.tif`)
      expect(rate_kg_ha, file).toBe(await pixelIn(file, column, row))
    }
    expect(body.fertilizer_data).toHaveLength(6)
    await service.close()
    const [again] = JSON.parse((await agro('ingest', sample, '--json')).stdout).releases
    expect(again).toMatchObject({ loaded: false, published: true })
  })

  test('with its extension off is refused, and says so', async () => {
    const off = { environment: { ...testDatabase.environment, EXTENSIONS: '-drafts' } }
    const { code, stderr } = await runAgro(off, 'ingest', sample)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The extension drafts, which reads folders of rasters, is off.'),
    ])
  })
})

/** Of 16-bit integers without compression, which end the file. */
async function pixelIn(file: string, column: number, row: number): Promise<number> {
  const bytes = await readFile(file)
  const [width, height] = [bytes.readUInt32LE(18), bytes.readUInt32LE(30)]
  return bytes.readInt16LE(bytes.length - 2 * width * height + 2 * (row * width + column))
}

test('a folder with questions is not loaded, and says how they are answered', async () => {
  const folder = await newFolder()
  await writeRaster(join(folder, 'et_wheat_nps_abvoe_202607.tif'), [{ valueAt: smooth(30, 199) }])
  const { code, stdout, stderr } = await agro('ingest', folder, '--json', ...GIVEN)
  const file = 'et_wheat_nps_abvoe_202607.tif'
  const text = '"abvoe" in the name is nearly "above": does it mean that?'
  const candidates = ['scenario: Above Normal', 'nothing']
  const questions = [{ member: 'scenario', text, candidates, files: [file], places: [] }]
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { code: 'QUESTIONS', questions }])
  expect(stderr).toContain(`\`agro draft ${folder}\` asks them`)
  expect(stderr).toContain('"abvoe" in the name is nearly "above"')
})

test('source and licence of a folder are given to ingest as to draft; a manifest has its own', async () => {
  const folder = await newFolder()
  await writeRaster(join(folder, 'et_wheat_nps_above_202607.tif'), [{ valueAt: smooth(30, 199) }])
  const { code, stderr } = await agro('ingest', folder, '--dry-run', ...GIVEN)
  expect(code, stderr).toBe(0)
  const { drafted } = await draft(folder, ...GIVEN)
  const refused = await agro('ingest', drafted.manifests[0]?.manifest ?? '', ...GIVEN)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('a manifest has its own')])
})

test('odds and ranges stand with their layer, in percent where they are', async () => {
  const folder = await newFolder()
  const options = { place: PLACES.rwa, notes: NOTES }
  for (const [at, word] of ['above', 'normal', 'below'].entries()) {
    const value = 9000 + 1000 * at
    for (const [end, more] of [
      ['', 0],
      ['_p10', -500],
      ['_p90', 500],
    ] as const) {
      const valueAt = smooth(value + more, value + 4000 + more)
      await writeRaster(join(folder, `rw_potato_yield_${word}${end}_202608.tif`), [{ valueAt }], options)
    }
    const odds = [30, 45, 25][at]
    await writeRaster(join(folder, `rw_odds_${word}_202608.tif`), [{ valueAt: () => odds }], options)
  }
  const { code, drafted } = await draft(folder)
  expect(drafted.questions).toEqual([])
  expect(code).toBe(0)
  const text = await readFile(drafted.manifests[0]?.manifest ?? '', 'utf8')
  expect(text).toMatch(/probability: \{ file: rw_odds_below_202608\.tif, unit: '%' \}/)
  expect(text).toMatch(/low: \{ file: rw_potato_yield_below_p10_202608\.tif \}/)
  const { code: loaded, stderr } = await agro('ingest', drafted.manifests[0]?.manifest ?? '', '--dry-run')
  expect(loaded, stderr).toBe(0)
})

test('manifests of several releases stand beside what --out names, where that is relative as well', async () => {
  const folder = await newFolder()
  for (const what of ['yield', 'urea'])
    await writeRaster(join(folder, `et_wheat_${what}_normal_202607.tif`), [{ valueAt: smooth(100, 2000) }], {
      notes: NOTES,
    })
  const out = join(folder, 'out')
  await mkdir(out)
  const { drafted } = await draft(folder, '--out', relative('.', join(out, 'wheat.yaml')))
  expect(drafted.manifests.map(({ manifest }) => manifest).toSorted()).toEqual([
    join(out, 'wheat-fertilizer-eth-wheat-2026-07.yaml'),
    join(out, 'wheat-yield-eth-wheat-2026-07.yaml'),
  ])
})

test('archives of Finder, packed files, capitals and signs in names are read, and what is none is listed', async () => {
  const folder = await newFolder()
  const options = { place: PLACES.gha, notes: NOTES }
  const lablab = join(folder, 'GH [1], Lablab Forage.TIF')
  await writeRaster(lablab, [{ valueAt: smooth(0, 0.9) }], options)
  const grass = join(folder, 'grass.tif')
  await writeRaster(grass, [{ valueAt: smooth(0, 0.8) }], options)
  const bytes = await readFile(grass)
  const entries = {
    'Season 1/ghana_forage_guinea-grass.tif': bytes,
    '__MACOSX/Season 1/._ghana.tif': Buffer.alloc(9),
  }
  await writeFile(join(folder, 'Season.zip'), zipSync(entries))
  await writeFile(join(folder, 'ghana_forage_alfalfa.tif.gz'), gzipSync(bytes))
  await writeFile(join(folder, 'broken.zip'), 'PK')
  await rm(grass)
  const { code, drafted } = await draft(folder)
  expect([code, drafted.questions]).toEqual([0, []])
  const [manifest] = drafted.manifests
  expect(manifest?.layers.map(({ file, input }) => [file, input?.value])).toEqual([
    ['GH [1], Lablab Forage.TIF', 'Lablab purpureus'],
    ['Season.zip/Season 1/ghana_forage_guinea-grass.tif', 'Megathyrsus maximus'],
    ['ghana_forage_alfalfa.tif.gz', 'Medicago sativa'],
  ])
  expect(drafted.left_out.map(({ file }) => file)).toContain('broken.zip')
  const { code: loaded, stderr } = await agro('ingest', manifest?.manifest ?? '', '--dry-run')
  expect(loaded, stderr).toBe(0)
})

test('a Zarr is read whatever its folder is called, and without one in an archive', async () => {
  const folder = await newFolder()
  const [north, east] = [20, 25].map((length) => Array.from({ length }, (_, at) => at / 2)) as [
    number[],
    number[],
  ]
  const [lat, lon] = [north.map((at) => 14 - at), east.map((at) => 34 + at)]
  const filesOf = (rate: number) => {
    const values = lat.flatMap((y) => lon.map((x) => rate + x + y))
    return zarrBytes(zarrField('urea', lat, lon, values, { units: 'kg/ha' }))
  }
  const inZip = Object.fromEntries(filesOf(0))
  await writeFile(join(folder, 'et_wheat_urea_below_202607.zip'), zipSync(inZip))
  for (const [name, bytes] of filesOf(9)) {
    const path = join(folder, 'et_wheat_urea_normal_202607', name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, bytes)
  }
  const { code, drafted } = await draft(folder, ...GIVEN)
  expect([code, drafted.questions]).toEqual([0, []])
  const [manifest] = drafted.manifests
  expect(manifest?.layers.map(({ file, scenario }) => [file, scenario?.value])).toEqual([
    ['et_wheat_urea_below_202607.zip', 'Below Normal'],
    ['et_wheat_urea_normal_202607', 'Normal'],
  ])
  const { code: loaded, stderr } = await agro('ingest', manifest?.manifest ?? '', '--dry-run')
  expect(loaded, stderr).toBe(0)

  // It hides no other raster, nor does a folder that is called like one.
  await writeFile(
    join(folder, 'et_wheat_urea_below_202607.zip'),
    zipSync({ ...inZip, 'one.tif': Buffer.from('-') }),
  )
  await mkdir(join(folder, 'season.tif'))
  await writeFile(join(folder, 'season.tif/two.tif'), '-')
  await writeFile(join(folder, 'et_wheat_urea_normal_202607/three.tif'), '-')
  const { drafted: again } = await draft(folder, ...GIVEN, '--force')
  const said = [...again.questions.map(({ text }) => text), ...again.left_out.map(({ file }) => file)].join()
  for (const name of ['one', 'two', 'three']) expect(said).toContain(`${name}.tif`)
})

test('words of the operator come before those of the table', async () => {
  const folder = await newFolder()
  await writeRaster(join(folder, 'et_wheat_cbe_an_202607.tif'), [{ valueAt: smooth(30, 199) }])
  const words = join(await newFolder(), 'words.yaml')
  await writeFile(
    words,
    `source: CIAT
licence: CC0-1.0
words:
  - { kind: input, of: fertilizer, means: CBE, words: [cbe] }
  - { kind: scenario, means: Above Normal, words: [an] }
`,
  )
  const { code, drafted } = await draft(folder, '--words', words)
  expect([code, drafted.questions]).toEqual([0, []])
  expect(drafted.manifests[0]?.layers[0]).toMatchObject({
    input: { value: 'CBE' },
    scenario: { value: 'Above Normal' },
  })
  await writeFile(words, 'words: [{ kind: fertilizer, means: x }]')
  const refused = await agro('draft', folder, '--force', '--words', words)
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('is not a table of words: /words/0/kind'),
  ])
})
