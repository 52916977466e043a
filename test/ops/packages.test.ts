import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { listSettings, loadConfig } from '#src/config.ts'
import {
  api,
  base,
  bytesOf,
  type ComposeService,
  compose,
  deployment,
  example,
  KUBERNETES,
  type Kustomization,
  manifestOf,
  NAMES,
  OF_NODE,
  ours,
  type PodMonitorSpec,
  pods,
  ROOT,
  STOP_MS,
  settingsOfExample,
  settingsOfImage,
  settingsOfMap,
  settingsOfUnit,
  textOf,
  unit,
  unset,
  version,
} from './manifests.ts'

describe('what installs the service', () => {
  test.each(NAMES)('%s sets what the service knows', (_, names) => {
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !listSettings().includes(name) && !OF_NODE.includes(name))).toEqual([])
  })

  test('sets values that the service takes', () => {
    for (const settings of [settingsOfMap, [...settingsOfUnit, ...settingsOfExample], settingsOfImage]) {
      const values = settings.filter(([name]) => !name.endsWith('_FILE'))
      expect(() => loadConfig(Object.fromEntries(values))).not.toThrow()
    }
  })

  test('is of the version of the package', () => {
    expect(textOf('Dockerfile')).toContain(`org.opencontainers.image.version="${version}"`)
    expect(base.labels[0]?.pairs['app.kubernetes.io/version']).toBe(version)
    expect(example.images.map(({ newTag }) => newTag)).toEqual([version])
  })

  test('lets the service have the time that a stop may take', () => {
    const delayOf = (settings: [string, unknown][]) =>
      Number(unset(String(Object.fromEntries(settings).SHUTDOWN_DELAY_MS)))
    const seconds = (text: string | undefined) => Number(unset(text).replace(/s$/, ''))
    const stops = ours.filter(({ environment }) => 'SHUTDOWN_DELAY_MS' in environment)
    const times = [
      ...stops.map((one) => [seconds(one.stop_grace_period), delayOf(Object.entries(one.environment))]),
      [seconds(/^TimeoutStopSec=(.*)$/m.exec(unit)?.[1]), delayOf(settingsOfUnit)],
      [deployment.terminationGracePeriodSeconds, delayOf(settingsOfMap)],
    ]
    expect(times).toHaveLength(4)
    for (const [timeBudget = 0, delay = Number.NaN] of times) {
      expect(timeBudget * 1000).toBeGreaterThan(delay + STOP_MS)
    }
  })

  test('gives the service the room for files that GeoTIFFs for download take, and memory beside it', () => {
    const downloadsOf = (settings: [string, string][]) =>
      // As the extension `downloads` has it: four times the setting, whose default is 256.
      4 * Number(Object.fromEntries(settings).DOWNLOAD_CACHE_MB ?? 256) * 1e6
    const { emptyDir } = deployment.volumes.find(({ name }) => name === 'tmp') ?? {}
    // Beside them lies what is loaded, and the pod is evicted at the limit.
    expect(bytesOf(emptyDir?.sizeLimit)).toBeGreaterThan(1.5 * downloadsOf(settingsOfMap))

    const process = bytesOf(api.resources.limits.memory)
    const serving = ours.filter(({ environment }) => 'SHUTDOWN_DELAY_MS' in environment)
    expect(serving.length).toBeGreaterThan(0)
    const roomOf = ({ tmpfs }: ComposeService) => bytesOf(unset(tmpfs?.[0]).replace('/tmp:size=', ''))
    for (const service of serving) {
      expect(roomOf(service)).toBeGreaterThan(1.5 * downloadsOf([]))
    }
    // Files of a tmpfs count as memory of their container. Jobs load rasters from addresses there.
    for (const service of ours) {
      expect(bytesOf(unset(service.mem_limit))).toBeGreaterThanOrEqual(roomOf(service) + process)
    }
  })

  test('bounds the memory of each container of compose, and lets databases share more than 64 MB', () => {
    const services = Object.entries(compose)
    expect(
      services.filter(([, { mem_limit }]) => !(bytesOf(unset(mem_limit)) > 0)).map(([name]) => name),
    ).toEqual([])
    const databases = services.filter(([, { image }]) => unset(image).startsWith('postgis/'))
    expect(databases.map(([name, { shm_size }]) => [name, bytesOf(shm_size) > 64 * 2 ** 20])).toEqual([
      ['database', true],
      ['replica', true],
    ])
  })

  test('bounds the memory of the unit, and no start that has no end', () => {
    const [, most] = /^MemoryMax=(\d+G)$/m.exec(unit) ?? []
    expect(bytesOf(most?.toLowerCase())).toBeGreaterThanOrEqual(bytesOf(api.resources.limits.memory))
    // A start of this type ends at once.
    expect([unit.includes('Type=exec\n'), unit.includes('TimeoutStartSec')]).toEqual([true, false])
  })

  test('starts the service as npm start does', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: { start: string } }
    const [, start] = /^exec (.*)$/.exec(scripts.start) as RegExpExecArray
    expect(unit).toContain(`ExecStart=/usr/bin/${start}\n`)
    const command = /^CMD (\["node", "--.*\])$/m.exec(textOf('Dockerfile'))?.[1] as string
    expect((JSON.parse(command) as string[]).join(' ')).toBe(start)
  })
})

describe('the manifests of Kubernetes', () => {
  test('kustomize takes every file', () => {
    const files = (folder: string) =>
      readdirSync(join(ROOT, KUBERNETES, folder)).filter((file) => file !== 'kustomization.yaml')
    expect([...base.resources].sort()).toEqual(files('base').sort())
    expect(example.resources.filter((file) => file !== '../base').sort()).toEqual(files('example').sort())
    const component: Kustomization = parse(textOf(`${KUBERNETES}/pod-monitor/kustomization.yaml`))
    expect(component.resources).toEqual(files('pod-monitor'))
  })

  test('make the namespace that they are in, and remove a job that has ended', () => {
    expect(manifestOf('Namespace').metadata.name).toBe((example as { namespace?: string }).namespace)
    const { ttlSecondsAfterFinished: kept } = manifestOf('Job').spec as { ttlSecondsAfterFinished?: number }
    expect(kept).toBeGreaterThan(0)
  })

  test('have the pods scraped as the job that alerts are about', () => {
    const { selector, podMetricsEndpoints } = (
      parse(textOf(`${KUBERNETES}/pod-monitor/pod-monitor.yaml`)) as { spec: PodMonitorSpec }
    ).spec
    const { labels } = (manifestOf('Deployment').spec as { template: { metadata: { labels: object } } })
      .template.metadata
    expect(selector.matchLabels).toEqual(labels)
    const { port, relabelings } = podMetricsEndpoints[0] as PodMonitorSpec['podMetricsEndpoints'][number]
    expect(api.ports?.map(({ name }) => name)).toContain(port)
    const jobs = [...textOf('ops/monitoring/alerts.yaml').matchAll(/job="(\w+)"/g)].map(([, job]) => job)
    expect(relabelings).toEqual([{ targetLabel: 'job', replacement: jobs[0] }])
    expect(new Set(jobs).size).toBe(1)
  })

  test('name ports and paths that there are', () => {
    const names = (api.ports ?? []).map(({ name, containerPort }) => [name, containerPort])
    const settings = Object.fromEntries([...settingsOfImage, ...settingsOfMap])
    expect(names).toEqual([
      ['http', Number(settings.PORT)],
      ['metrics', Number(settings.METRICS_PORT)],
    ])
    const document = parse(textOf('openapi.yaml')) as { paths: Record<string, unknown> }
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { path, port } = (api[probe] as { httpGet: { path: string; port: string } }).httpGet
      expect([probe, port, Object.keys(document.paths).includes(path)]).toEqual([probe, 'http', true])
    }
    // What starts a container anew asks about its process alone: an outage of the database may take long.
    const restarting = ['startupProbe', 'livenessProbe'].map(
      (probe) => api[probe] as { httpGet: { path: string } },
    )
    expect(restarting.map(({ httpGet }) => httpGet.path)).toEqual(['/health/live', '/health/live'])
    const service = manifestOf('Service').spec as { ports: { targetPort: string }[] }
    expect(service.ports.map(({ targetPort }) => targetPort)).toEqual(['http'])
    const policy = manifestOf('NetworkPolicy').spec as { ingress: { ports: { port: string }[] }[] }
    expect(policy.ingress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual(['http', 'metrics'])
  })

  test('select the pods that there are', () => {
    const { selector, template } = manifestOf('Deployment').spec as {
      selector: { matchLabels: object }
      template: { metadata: { labels: object } }
    }
    const { labels } = template.metadata
    expect(selector.matchLabels).toEqual(labels)
    expect((manifestOf('Service').spec as { selector: object }).selector).toEqual(labels)
    const budget = manifestOf('PodDisruptionBudget').spec as { selector: { matchLabels: object } }
    expect(budget.selector.matchLabels).toEqual(labels)
    const { scaleTargetRef } = manifestOf('HorizontalPodAutoscaler').spec as { scaleTargetRef: object }
    const { name } = manifestOf('Deployment').metadata
    expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name })
    const account = manifestOf('ServiceAccount').metadata.name
    expect(pods.map(({ serviceAccountName }) => serviceAccountName)).toEqual(pods.map(() => account))
  })
})
