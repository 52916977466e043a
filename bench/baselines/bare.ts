/**
 * The limit of what Fastify can do: a route that validates the same request and serialises the same
 * answer by the same schemas, and knows it beforehand. ANSWER is that answer, as JSON.
 */
import { listenForBench, PATH, plainFastify } from './route.ts'

const answer = JSON.parse(process.env.ANSWER as string)
const { app, schema } = plainFastify()
app.post(PATH, { schema }, async () => answer)
await listenForBench(app)
