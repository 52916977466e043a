import { onTestFinished, test } from 'vitest'
import { PATH, plainFastify } from '#bench/baselines/route.ts'

test('the baselines know all schemas that a point is read and written by', async () => {
  const { app, schema } = plainFastify()
  onTestFinished(() => app.close())
  app.post(PATH, { schema }, async () => ({}))
  await app.ready()
})
