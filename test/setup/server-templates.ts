import { writeFile } from 'node:fs/promises'
import type { TestProject } from 'vitest/node'
import { loadConfig } from '#src/config.ts'
import { databaseUrl, executeOnServer } from './server.ts'
import { prepareTemplate, startMaking, TEMPLATES, type Template } from './templates.ts'

const POSTGIS_IMAGE = 'postgis/postgis:17-3.5'

/**
 * Has the template databases made once for all test files, on the server given or in a container. Their
 * names are the run's own, so that runs on one server do not meet.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env.TEST_DATABASE_URL
    ? { url: process.env.TEST_DATABASE_URL, stop: async () => {} }
    : await startContainer()
  const prefix = `agro_test_${process.pid}_${Date.now()}`
  const nameOf = (template: Template) => `${prefix}_${template}`
  const remove = await startMaking(project, server.url, async (template, path) => {
    // The demo is added to what has the schema.
    const like = template === 'empty' ? 'template1' : nameOf('empty')
    await executeOnServer(server.url, `create database ${nameOf(template)} template ${like}`)
    await prepareTemplate(loadConfig({ DATABASE_URL: databaseUrl(server.url, nameOf(template)) }), template)
    await writeFile(path, nameOf(template))
  })
  return async () => {
    await remove()
    for (const template of TEMPLATES) {
      await executeOnServer(server.url, `drop database if exists ${nameOf(template)} with (force)`)
    }
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
