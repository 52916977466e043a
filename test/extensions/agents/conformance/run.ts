/** Runs the conformance suite of the Model Context Protocol. Needs the registry. */
import { spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import * as sdk from '@modelcontextprotocol/server'
import { Command } from 'commander'
import Fastify from 'fastify'
import { createExchange } from '#src/extensions/agents/exchange.ts'
import { createFixtureServer } from './fixtures.ts'

/** Newer versions need Node 22. */
const SUITE = '@modelcontextprotocol/conformance@0.1.13'

const command = new Command('npm run mcp-conformance --')
  .description(
    'Try the scenarios of the protocol on a service, or on a server that has all that they ask for.',
  )
  .argument(
    '[url]',
    'of a running service, with /mcp; without it, the transport of the service with fixtures',
  )
  .parse()
const [url] = command.args
process.exitCode = await (url === undefined ? tryFixtures() : tryScenarios(url, 'service'))

/** Resolves to the exit code of the suite: 0 where exactly the expected scenarios fail. */
function tryScenarios(address: string, failures: 'service' | 'fixtures'): Promise<number> {
  const expected = `test/extensions/agents/conformance/${failures}.yaml`
  const parameters = ['server', '--suite', 'all', '--expected-failures', expected, '--url', address]
  const suite = spawn('npx', ['--yes', SUITE, ...parameters], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    suite.once('error', reject).once('exit', (code) => resolve(code ?? 1))
  })
}

async function tryFixtures(): Promise<number> {
  const fastify = Fastify()
  const answer = createExchange(sdk, createFixtureServer, (error) => console.error(error))
  fastify.post('/mcp', async (request, reply) => {
    const response = await answer(request.body as object, { request, reply })
    const type = response.headers.get('content-type')
    if (type !== null) reply.type(type)
    return reply.code(response.status).send(await response.text())
  })
  await fastify.listen({ host: '127.0.0.1', port: 0 })
  const { port } = fastify.server.address() as AddressInfo
  return tryScenarios(`http://127.0.0.1:${port}/mcp`, 'fixtures').finally(() => fastify.close())
}
