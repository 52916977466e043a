import { expect, test } from 'vitest'
import { signed } from '#src/extensions/tile-files/bucket.ts'

/** Of the examples in Amazon's documentation of Signature Version 4 for S3. */
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const BUCKET = 'https://examplebucket.s3.amazonaws.com'
const NOW = new Date('2013-05-24T00:00:00Z')

test.each([
  [
    'a range of an object',
    { method: 'GET', url: `${BUCKET}/test.txt`, headers: { range: 'bytes=0-9' } },
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'an object that is stored',
    {
      method: 'PUT',
      url: `${BUCKET}/test$file.text`,
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      body: Buffer.from('Welcome to Amazon S3.'),
    },
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
] as const)('a request for %s is signed as Amazon does', async (_, { url, ...request }, signature) => {
  const { headers } = await signed({ ...request, url: new URL(url) }, CREDENTIALS, NOW)
  expect(headers.authorization).toMatch(new RegExp(`Signature=${signature}$`))
})
