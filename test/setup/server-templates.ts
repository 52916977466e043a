import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { loadConfig } from '#src/config.ts'
import { databaseUrl } from './server.ts'
import { prepareTemplate, type Template } from './templates.ts'

const POSTGIS_IMAGE = 'postgis/postgis:17-3.5'

/** Makes the template databases once for all test files, on the server given or in a container. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env.TEST_DATABASE_URL
    ? { url: process.env.TEST_DATABASE_URL, stop: async () => {} }
    : await startContainer()
  for (const template of ['empty', 'demo'] satisfies Template[]) {
    const name = `agro_test_${template}`
    const client = new pg.Client(server.url)
    await client.connect()
    await client.query(`drop database if exists ${name} with (force)`)
    await client.query(`create database ${name}`)
    await client.end()
    await prepareTemplate(loadConfig({ DATABASE_URL: databaseUrl(server.url, name) }), template)
  }
  project.provide('templates', server.url)
  return server.stop
}

async function startContainer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(POSTGIS_IMAGE)
    .withEnvironment({ POSTGRES_HOST_AUTH_METHOD: 'trust' })
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start()
  return {
    url: `postgres://postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
    stop: async () => {
      await container.stop()
    },
  }
}
