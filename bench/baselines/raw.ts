/**
 * The limit of what Node's own HTTP can do: each body is parsed, and everybody is sent the same. ANSWER is that
 * answer, as JSON.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const answer = process.env.ANSWER as string
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(answer),
}

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    JSON.parse(Buffer.concat(parts).toString())
    response.writeHead(200, headers).end(answer)
  })
})
process.on('SIGTERM', () => {
  server.close(() => process.exit())
  server.closeAllConnections()
})
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
