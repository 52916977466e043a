import { type Static, Type } from 'typebox'
import { EXAMPLE_RELEASE, PointId } from './batch.ts'
import * as t from './common.ts'
import { releaseMembers } from './release.ts'

export const DHIS2 = 'application/vnd.dhis2+json'

/** A year, and what follows it in periods of any length. */
export const DHIS2_PERIOD = '^[0-9]{4}[0-9A-Za-z]*$'

export const Dhis2Mapping = t.component(
  'Dhis2Mapping',
  'The names of places and columns in a DHIS2. Identifiers are its UIDs, or those of its identifier scheme.',
  {
    data_elements: Type.Array(
      Type.Object({
        column: t.text(200, 'A column of the answer as CSV.', 'yield_kg_ha Normal'),
        data_element: t.text(100, 'The data element of its numbers.', 'fbfJHSPpUQD'),
        category_option_combo: t.optional(t.text(100, 'Left out of the values where it is left out.')),
      }),
      { minItems: 1, maxItems: 500, description: 'The columns to send. Missing values are left out.' },
    ),
    org_units: t.optional(
      Type.Array(
        Type.Object({
          id: t.text(200, 'The code of an area, or the `id` of a polygon.', 'ETH-01'),
          org_unit: t.text(100, undefined, 'O6uvpzGd5pu'),
        }),
        {
          maxItems: 10_000,
          description:
            'Which organisation units the areas or polygons are. Where it is left out, their codes are those of the organisation units, and the set says so (`orgUnitIdScheme`).',
        },
      ),
    ),
    period: t.optional(
      Type.String({
        maxLength: 20,
        pattern: DHIS2_PERIOD,
        description:
          'The period of the values. The month of the forecast where it is left out, such as `202607`.',
        examples: ['202607', '2026Q3', '2026W30'],
      }),
    ),
    calendar: t.optional(
      t.text(
        20,
        'Of the DHIS2: `gregorian`, `ethiopian`, `coptic`, `persian` or `thai`. The period is its month with most days of that of the forecast: `201811` for July 2026.',
        'ethiopian',
      ),
    ),
    data_set: t.optional(t.text(100, 'Named in the set where it is sent.')),
    attribute_option_combo: t.optional(t.text(100, 'The combination of all values, if any.')),
  },
)
export type Dhis2Mapping = Static<typeof Dhis2Mapping>

const ofAll = releaseMembers({ seasonal: false })
const members = Object.entries(releaseMembers({ seasonal: true })).map(([name, schema]) => [
  name,
  // No member is null, which programs that read texts would not expect.
  name in ofAll && name !== 'crop' ? schema : Type.Optional(schema),
])

/** As DHIS2 takes it: what comes before the values is text, all values are texts, and what comes behind is not read. */
export const DataValueSet = t.component(
  'DataValueSet',
  'A data value set for `POST /api/dataValueSets` of a DHIS2.',
  {
    ...Object.fromEntries(members),
    dataSet: Type.Optional(Type.String()),
    orgUnitIdScheme: Type.Optional(Type.Literal('CODE')),
    dataValues: Type.Array(
      Type.Object({
        dataElement: Type.String(),
        period: Type.String(),
        orgUnit: Type.String(),
        categoryOptionCombo: Type.Optional(Type.String()),
        attributeOptionCombo: Type.Optional(Type.String()),
        value: Type.String(),
      }),
    ),
    left_out: Type.Array(
      Type.Object({
        id: Type.Optional(PointId),
        error: Type.String(),
        code: Type.Optional(t.ErrorCode),
      }),
      { description: 'Areas or polygons without values, and why.' },
    ),
  },
  {
    ...EXAMPLE_RELEASE,
    dataValues: [{ dataElement: 'fbfJHSPpUQD', period: '202607', orgUnit: 'O6uvpzGd5pu', value: '2739.56' }],
    left_out: [{ id: 'ETH-02', error: 'The mapping names no organisation unit for it.' }],
  },
)
