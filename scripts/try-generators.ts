/**
 * Tries the document of a running service with the generators of clients in `generators/`: each generates from
 * it, a small program that uses what came out is compiled strictly, and run against the service; then all requests of
 * the collection that Postman makes of it are sent. The packages are installed in a temporary folder, since some of them
 * want another TypeScript than the project.
 */
import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tryPostman } from './try-postman.ts'

/** As their quick starts say. */
const GENERATORS: Record<string, string> = {
  'openapi-typescript': 'openapi-typescript openapi.json -o out/openapi-typescript/schema.ts',
  'hey-api': 'openapi-ts -i openapi.json -o out/hey-api -c @hey-api/client-fetch',
  'swagger-typescript-api':
    'swagger-typescript-api generate -p openapi.json -o out/swagger-typescript-api -n api.ts',
  orval: 'orval',
  kubb: 'kubb generate',
}

const [url = 'http://127.0.0.1:3000'] = process.argv.slice(2)
const folder = await mkdtemp(join(tmpdir(), 'agro-generators-'))
try {
  const document = await (await fetch(`${url}/openapi.json`)).text()
  await cp(fileURLToPath(new URL('../generators', import.meta.url)), folder, { recursive: true })
  await writeFile(join(folder, 'openapi.json'), document)
  run('npm install --no-audit --no-fund --loglevel=error')
  for (const [name, command] of Object.entries(GENERATORS)) {
    const files = [`programs/${name}.ts`]
    await writeFile(
      join(folder, 'tsconfig.program.json'),
      JSON.stringify({ extends: './tsconfig.json', files }),
    )
    const failed = [command, 'tsc -p tsconfig.program.json', `tsx ${files}`].find(
      (step) => !run(`npm exec --no -- ${step}`),
    )
    console.log(`${name}: ${failed === undefined ? 'passed' : `failed at \`${failed}\``}`)
    if (failed !== undefined) process.exitCode = 1
  }
  const { lines, passed } = await tryPostman(url, folder, run)
  console.log(lines.join('\n'))
  if (!passed) process.exitCode = 1
} finally {
  await rm(folder, { recursive: true })
}

/** Runs a command in the folder, and shows what it says where it fails. */
function run(command: string): boolean {
  const { status, stdout, stderr } = spawnSync(command, {
    cwd: folder,
    shell: true,
    encoding: 'utf8',
    env: { ...process.env, BASE_URL: url },
  })
  if (status !== 0) console.error(stdout + stderr)
  return status === 0
}
