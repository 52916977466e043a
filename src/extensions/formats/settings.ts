import { type Static, Type } from 'typebox'
import type { Config, OwnSettings } from '#src/config.ts'
import { splitList } from '#src/lib/names.ts'
import { isHost } from '#src/lib/network.ts'

const Operated = Type.Object({
  INGEST_HOSTS: Type.String({ examples: ['data.example.org,s3://bucket'], default: '' }),
  INGEST_ALLOW_PRIVATE: Type.Boolean({ default: false }),
  INGEST_S3_ENDPOINT: Type.Optional(
    Type.String({ pattern: '^https?://[^/]+/?$', examples: ['https://s3.eu-central-1.amazonaws.com'] }),
  ),
  INGEST_S3_REGION: Type.String({ pattern: '^[!-~]+$', examples: ['us-east-1'], default: 'us-east-1' }),
  INGEST_S3_ACCESS_KEY_ID: Type.Optional(
    Type.String({ pattern: '^[!-~]+$', examples: ['AKIAIOSFODNN7EXAMPLE'] }),
  ),
  INGEST_S3_SECRET_ACCESS_KEY: Type.Optional(Type.String()),
})

type AddressSettings = Static<typeof Operated>

declare module '#src/config.ts' {
  interface Config extends AddressSettings {}
}

const BUCKET = /^s3:\/\/[a-z\d][a-z\d.-]+$/i

/** Hosts, with a port unless it is 443, and buckets as `s3://NAME`; in small letters. */
export function listHosts({ INGEST_HOSTS }: Pick<Config, 'INGEST_HOSTS'>): string[] {
  return splitList(INGEST_HOSTS).map((item) => item.toLowerCase())
}

function refuseOthers(config: Config): void {
  const other = listHosts(config).find((item) => !isHost(item) && !BUCKET.test(item))
  if (other !== undefined) {
    throw new Error(
      `INGEST_HOSTS must list hosts such as data.example.org, and buckets such as s3://rasters, not "${other}"`,
    )
  }
}

export const settings: OwnSettings = {
  operated: Operated.properties,
  secrets: ['INGEST_S3_SECRET_ACCESS_KEY'],
  refuse: refuseOthers,
}
