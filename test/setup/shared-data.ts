import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Real rasters and boundaries that may not be published: beside the repository, where they are at all. */
const SHARED_DATA = resolve(import.meta.dirname, '../../../shared/data')
export const SHARED_RASTERS = join(SHARED_DATA, 'rasters')
export const SHARED_BOUNDARIES = join(SHARED_DATA, 'boundaries')

export const hasSharedRasters = existsSync(join(SHARED_RASTERS, 'oracle_points.csv'))
export const hasSharedBoundaries = existsSync(SHARED_BOUNDARIES)
