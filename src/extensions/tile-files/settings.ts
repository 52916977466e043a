import { type Static, Type } from 'typebox'
import type { OwnSettings } from '#src/config.ts'
import { chooseFileStore } from './open.ts'

const Operated = Type.Object({
  TILE_STORE: Type.String({
    pattern: '^(postgis|file:///.+|https?://.+|s3://.+)$',
    examples: ['postgis', 'file:///srv/tiles', 's3://bucket/tiles'],
    default: 'postgis',
  }),
  TILE_DISK_CACHE_DIR: Type.Optional(Type.String()),
  TILE_DISK_CACHE_MB: Type.Integer({ minimum: 64, maximum: 16_777_216, default: 1024 }),
  S3_ENDPOINT: Type.Optional(
    Type.String({ pattern: '^https?://', examples: ['https://s3.eu-central-1.amazonaws.com'] }),
  ),
  S3_REGION: Type.String({ pattern: '^[!-~]+$', examples: ['us-east-1'], default: 'us-east-1' }),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String({ pattern: '^[!-~]+$', examples: ['AKIAIOSFODNN7EXAMPLE'] })),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String()),
})

const Bounds = Type.Object({
  TILE_STORE_TIMEOUT_MS: Type.Integer({ minimum: 50, maximum: 60_000, default: 1000 }),
})

type TileSettings = Static<typeof Operated> & Static<typeof Bounds>

declare module '#src/config.ts' {
  interface Config extends TileSettings {}
}

export const settings: OwnSettings = {
  operated: Operated.properties,
  bounds: Bounds.properties,
  secrets: ['S3_SECRET_ACCESS_KEY'],
  refuse: chooseFileStore,
}
