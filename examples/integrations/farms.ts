// The same as farms.py:  AGRO_URL=http://127.0.0.1:3000 node farms.ts < ../rwanda/farms.csv > advised.csv
import { text } from 'node:stream/consumers'
import { createAdvisoryClient } from 'agro-advisory-client'

const SCENARIO = 'Normal'

const client = createAdvisoryClient({ baseUrl: process.env.AGRO_URL ?? '', key: process.env.AGRO_KEY })

// No cell of this file has a comma in it; a CSV of others wants a parser.
const [header = [], ...rows] = (await text(process.stdin))
  .trim()
  .split('\n')
  .map((line) => line.split(','))
const farms = rows.map((row) => {
  const cell = (name: string) => row[header.indexOf(name)] ?? ''
  return {
    id: cell('id'),
    lat: Number(cell('lat')),
    lng: Number(cell('lng')),
    area_ha: Number(cell('area_ha')),
  }
})
const areas = new Map(farms.map(({ id, area_ha }) => [id, area_ha]))

console.log('id,input,kg_ha,kg,release,why_not')
const points = farms.map(({ id, lat, lng }) => ({ id, lat, lng }))
for await (const item of client.points('fertilizer', points, { crop: 'potato', country_code: 'rwa' })) {
  const { id, release = '', code, fertilizer_data: entries } = item
  if (code) console.log([id, '', '', '', release, code].join(','))
  for (const { fertilizer_type, scenario, rate_kg_ha } of entries ?? []) {
    if (scenario !== SCENARIO) continue
    const amount = Math.round(rate_kg_ha * (areas.get(String(id)) ?? 0) * 10) / 10
    console.log([id, fertilizer_type, rate_kg_ha, amount, release, ''].join(','))
  }
}
