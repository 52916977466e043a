/** Which properties of the features are what. */
export interface PropertyNames {
  /** The first of them that a feature has is its code. None: the country's own, at level 0. */
  code: string[]
  name: string[]
  /** None: parents are found by overlap. */
  parent: string[]
}

/** How a publisher names the properties of areas, in lower case. */
export interface Source {
  name: string
  /** The properties of an area of some level. */
  properties(level: number): PropertyNames
  /** Properties with the code of the country. */
  countryCode: string[]
  /** What stands for no code, beside what all publishers write. */
  noCode?: string
  /** Properties with its name, where it has no code. */
  countryName?: string[]
  /**
   * How the level is told: by the lowest level of which there is a code, or by a property that says it;
   * undefined where files of all levels have the same properties.
   */
  level?: 'codes' | { property: string }
}

const codPcodes = (
  pcode: (level: number) => string,
  names: (level: number) => string[],
  country: string,
): Source => ({
  name: 'OCHA COD-AB',
  properties: (level) => ({ code: [pcode(level)], name: names(level), parent: [pcode(level - 1)] }),
  countryCode: [country],
  level: 'codes',
})

const COD_NAMES = ['_en', '_name', 'name_en', 'name', '_ref', '_fr']

/** The sources that are known. A file is of the first of them whose properties it has; docs/countries.md lists them. */
export const SOURCES: Source[] = [
  {
    name: 'this project',
    properties: () => ({ code: ['code'], name: ['name'], parent: ['parent_code'] }),
    countryCode: ['iso3'],
    level: { property: 'level' },
  },
  // The spellings since 2010: ADM2_PCODE, adm2_pcode, admin2Pcode.
  ...['_pcode', 'pcode'].flatMap((pcode) =>
    ['adm', 'admin'].map((admin) =>
      codPcodes(
        (level) => `${admin}${level}${pcode}`,
        (level) => COD_NAMES.map((name) => `${admin}${level}${name}`),
        `${admin}0${pcode}`,
      ),
    ),
  ),
  {
    name: 'geoBoundaries',
    // ISO 3166-2 codes exist for the first level alone.
    properties: (level) => ({
      code: level <= 1 ? ['shapeiso', 'shapeid'] : ['shapeid'],
      name: ['shapename'],
      parent: [],
    }),
    countryCode: ['shapegroup'],
    level: { property: 'shapetype' },
  },
  {
    name: 'GADM 3.4 and later',
    properties: (level) => ({
      code: [`gid_${level}`],
      name: level === 0 ? ['country', 'name_0'] : [`name_${level}`],
      parent: [`gid_${level - 1}`],
    }),
    countryCode: ['gid_0'],
    level: 'codes',
  },
  {
    name: 'GADM 2',
    properties: (level) => ({
      code: level === 0 ? ['iso'] : [`id_${level}`],
      name: level === 0 ? ['name_0', 'name_engli'] : [`name_${level}`],
      parent: [`id_${level - 1}`],
    }),
    countryCode: ['iso'],
    level: 'codes',
  },
  {
    name: 'SALB',
    properties: (level) => ({
      code: level === 0 ? ['iso3cd'] : [`adm${level}cd`],
      name: [`adm${level}nm`],
      parent: [`adm${level - 1}cd`],
    }),
    countryCode: ['iso3cd'],
    level: 'codes',
  },
  {
    name: 'GAUL 2015',
    // Its numbers are none that a country is known by.
    properties: (level) => ({
      code: level === 0 ? [] : [`adm${level}_code`],
      name: [`adm${level}_name`],
      parent: [`adm${level - 1}_code`],
    }),
    countryCode: ['iso3'],
    countryName: ['adm0_name'],
    level: 'codes',
  },
  {
    name: 'GAUL 2024',
    properties: (level) => ({
      code: level === 0 ? ['iso3_code'] : [`gaul${level}_code`],
      name: [`gaul${level}_name`],
      parent: [`gaul${level - 1}_code`],
    }),
    countryCode: ['iso3_code'],
    level: 'codes',
  },
  {
    name: 'World Bank',
    properties: (level) => ({
      code: level === 0 ? ['iso_a3'] : [`adm${level}cd_c`],
      name: [`nam_${level}`],
      parent: [`adm${level - 1}cd_c`],
    }),
    countryCode: ['iso_a3'],
    level: 'codes',
  },
  {
    name: 'Natural Earth',
    // Codes of ISO 3166-2 come more than once there.
    properties: (level) => ({
      code: level === 0 ? ['adm0_a3'] : [`adm${level}_code`],
      name: level === 0 ? ['name', 'name_en', 'admin'] : ['name', 'name_en'],
      parent: [],
    }),
    countryCode: ['adm0_a3'],
    level: 'codes',
  },
  {
    name: 'IEBC (Kenya)',
    // Its file of counties has a constituency of each, too.
    properties: (level) => ({
      code: level === 1 ? ['county_cod'] : level === 2 ? ['const_code'] : [],
      name: level === 1 ? ['county_nam'] : level === 2 ? ['constituen'] : [],
      parent: ['county_cod'],
    }),
    countryCode: [],
    // Of a shape that is no constituency.
    noCode: '0',
  },
]

/** The lowest level that files may have: some publish more than are loaded. */
const LOWEST_LEVEL = 5

/** A source, and what a file spells its properties like. */
export interface Layout {
  source: Source
  names: PropertyNames
}

/** The source that a file with some properties is of, where it holds areas of a level. */
export function recognise(keys: string[], level: number): Layout | undefined {
  for (const source of SOURCES) {
    const wanted = source.properties(level)
    const names = spelledAs(keys, wanted)
    const hasCode = names.code.length > 0 || wanted.code.length === 0
    if (hasCode && names.name.length > 0) return { source, names }
  }
  return undefined
}

/** The same without knowing the level: by the lowest areas that there are codes of. */
export function recogniseAny(keys: string[]): Layout | undefined {
  for (let level = LOWEST_LEVEL; level >= 0; level--) {
    const layout = recognise(keys, level)
    if (layout) return layout
  }
  return undefined
}

function spelledAs(keys: string[], names: PropertyNames): PropertyNames {
  const spelling = new Map(keys.map((key) => [key.toLowerCase(), key]))
  const found = (wanted: string[]) => wanted.flatMap((name) => spelling.get(name) ?? [])
  return { code: found(names.code), name: found(names.name), parent: found(names.parent) }
}

/** The lowest level of which a source has codes among some properties; undefined where it has none. */
export function lowestLevel(source: Source, keys: string[]): number | undefined {
  for (let level = LOWEST_LEVEL; level >= 0; level--) {
    if (spelledAs(keys, source.properties(level)).code.length > 0) return level
  }
  return undefined
}
