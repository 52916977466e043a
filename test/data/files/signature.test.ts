import { expect, test } from 'vitest'
import { signed } from '#src/data/files/bucket.ts'

/** Of the examples in Amazon's documentation of Signature Version 4 for S3. */
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const NOW = new Date('2013-05-24T00:00:00Z')

test('a request is signed as Amazon does, with its headers and the sum of its body', async () => {
  const { headers } = await signed(
    {
      method: 'PUT',
      url: new URL('https://examplebucket.s3.amazonaws.com/test$file.text'),
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      body: Buffer.from('Welcome to Amazon S3.'),
    },
    CREDENTIALS,
    NOW,
  )
  const signature = '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd'
  expect(headers.authorization).toMatch(new RegExp(`Signature=${signature}$`))
})
