/** Prints the figures of bench/polygons.ts as JSON: node bin/run.mjs bench/polygons-alone.ts */
import { measurePolygons } from './polygons.ts'

console.log(JSON.stringify(await measurePolygons(process.env.DATABASE_URL as string), null, 2))
