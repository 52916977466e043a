import type { TestProject } from 'vitest/node'
import { loadConfig } from '#src/config.ts'
import { databaseUrl, executeOnServer } from './server.ts'
import { prepareTemplate, TEMPLATES } from './templates.ts'

const POSTGIS_IMAGE = 'postgis/postgis:17-3.5'

/**
 * Makes the template databases once for all test files, on the server given or in a container. Their
 * names are the run's own, so that runs on one server do not meet.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env.TEST_DATABASE_URL
    ? { url: process.env.TEST_DATABASE_URL, stop: async () => {} }
    : await startContainer()
  const prefix = `agro_test_${process.pid}_${Date.now()}`
  const names = TEMPLATES.map((template) => `${prefix}_${template}`)
  for (const [index, template] of TEMPLATES.entries()) {
    const name = names[index] as string
    // The demo is added to what has the schema.
    await executeOnServer(server.url, `create database ${name} template ${names[index - 1] ?? 'template1'}`)
    await prepareTemplate(loadConfig({ DATABASE_URL: databaseUrl(server.url, name) }), template)
  }
  project.provide('templates', `${server.url}#${prefix}`)
  return async () => {
    for (const name of names) await executeOnServer(server.url, `drop database ${name} with (force)`)
    await server.stop()
  }
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
