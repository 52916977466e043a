import { expect, test } from 'vitest'
import { crsOfText } from '#src/ingest/geotiff/crs-text.ts'

test.each(['longlat', 'latlong', 'latlon', 'lonlat'])(
  'a PROJ string of +proj=%s is one of longitude and latitude',
  (name) => {
    expect(crsOfText(`+proj=${name} +ellps=clrk80 +no_defs`)).toEqual({
      kind: 'text',
      wkt: '',
      proj: '+proj=longlat +ellps=clrk80 +no_defs',
    })
  },
)

test('a CRS that is bound or has heights is projected where what it is around is', () => {
  const projected = 'PROJCS["ours",GEOGCS["ours"]]'
  for (const wkt of [`COMPD_CS["ours",${projected},VERT_CS["ours"]]`, `BOUNDCRS[SOURCECRS[${projected}]]`]) {
    expect(crsOfText(wkt)).toEqual({ kind: 'text', wkt, proj: '' })
  }
})
