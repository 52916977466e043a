import { setFlagsFromString } from 'node:v8'

// While requests wait for the database, V8 would learn that what they are made of lives long, and from then
// on put it where it is collected once a second instead of a hundred times: each dead request there keeps
// others alive, and a sixth of the time went into copying them.
setFlagsFromString('--no-allocation-site-pretenuring')
