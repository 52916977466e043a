import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

export const ROOT = resolve(import.meta.dirname, '../..')
export const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** What Node itself reads. */
export const OF_NODE = ['NODE_ENV']

/** How long a stop may take beside SHUTDOWN_DELAY_MS. */
export const STOP_MS = 10_000

export const { version } = JSON.parse(textOf('package.json')) as { version: string }

interface Container {
  name: string
  image: string
  env?: { name: string; value: unknown }[]
  ports?: { name: string; containerPort: number }[]
  resources: { limits: { memory: string } }
  [probe: string]: unknown
}

interface PodSpec {
  containers: Container[]
  initContainers?: Container[]
  volumes: { name: string; secret?: { secretName: string }; emptyDir?: { sizeLimit?: string } }[]
  serviceAccountName: string
  terminationGracePeriodSeconds?: number
}

interface Manifest {
  kind: string
  metadata: { name: string }
  spec: Record<string, never>
}

export interface Kustomization {
  resources: string[]
  labels: { pairs: Record<string, string> }[]
  images: { newTag: string }[]
  configMapGenerator: { name: string; literals: string[] }[]
}

export interface PodMonitorSpec {
  selector: { matchLabels: object }
  podMetricsEndpoints: { port: string; relabelings: { targetLabel: string; replacement: string }[] }[]
}

export const KUBERNETES = 'ops/kubernetes'
export const base: Kustomization = parse(textOf(`${KUBERNETES}/base/kustomization.yaml`))
export const example: Kustomization = parse(textOf(`${KUBERNETES}/example/kustomization.yaml`))
const manifests = ['base', 'example'].flatMap((folder) =>
  readdirSync(join(ROOT, KUBERNETES, folder))
    .filter((file) => file !== 'kustomization.yaml')
    .map((file): Manifest => parse(textOf(`${KUBERNETES}/${folder}/${file}`), { merge: true })),
)
export const settingsOfMap = literalsOf([...base.configMapGenerator, ...example.configMapGenerator])

function literalsOf(maps: { literals: string[] }[]): [string, string][] {
  return maps.flatMap(({ literals }) => literals.map((line) => splitAt(line)))
}

function splitAt(line: string): [string, string] {
  const place = line.indexOf('=')
  return [line.slice(0, place), line.slice(place + 1)]
}

/** The pods of a Deployment, a Job or a CronJob, wherever their template stands. */
function podsIn(value: unknown): PodSpec[] {
  if (typeof value !== 'object' || value === null) return []
  if ('containers' in value) return [value as PodSpec]
  return Object.values(value).flatMap(podsIn)
}

export function manifestOf(kind: string): Manifest & { spec: never } {
  return manifests.find((manifest) => manifest.kind === kind) as Manifest & { spec: never }
}

const containersOf = (pod: PodSpec) => [...(pod.initContainers ?? []), ...pod.containers]
export const pods = manifests.flatMap(podsIn)
export const deployment = podsIn(manifestOf('Deployment'))[0] as PodSpec
export const api = deployment.containers[0] as Container

export interface ComposeService {
  image: string
  build?: string
  environment: Record<string, unknown>
  stop_grace_period?: string
  tmpfs?: string[]
  mem_limit?: string
  shm_size?: string
}

export const compose = (
  parse(textOf('docker-compose.yml'), { merge: true }) as { services: Record<string, ComposeService> }
).services
/** What a variable of a text of compose is where nobody sets it, such as `2g` of `${TMP_SIZE:-2g}`. */
export const unset = (text = '') => text.replace(/\$\{\w+:-([^}]*)\}/g, '$1')
export const ours = Object.values(compose).filter(({ build }) => build !== undefined)

const UNITS: Record<string, number> = { m: 2 ** 20, g: 2 ** 30, Mi: 2 ** 20, Gi: 2 ** 30 }

/** The bytes that a size of compose or Kubernetes stands for; NaN where there is none. */
export function bytesOf(size = ''): number {
  const [, number, unit = ''] = /^(\d+)(\w+)$/.exec(size) ?? []
  return Number(number) * (UNITS[unit] ?? Number.NaN)
}

export const unit = textOf('ops/systemd/agro-advisory.service')
export const settingsOfUnit = [...unit.matchAll(/^Environment=(.*)$/gm)]
  .flatMap(([, line = '']) => line.split(' '))
  .map(splitAt)
export const settingsOfExample = textOf('ops/systemd/environment.example')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map(splitAt)
export const settingsOfImage = [...textOf('Dockerfile').matchAll(/^ENV (.*)$/gm)]
  .flatMap(([, line = '']) => line.split(' '))
  .map(splitAt)
  .filter(([name]) => name !== 'PATH')

export const NAMES: [string, string[]][] = [
  ['the image', settingsOfImage.map(([name]) => name)],
  ['compose', ours.flatMap(({ environment }) => Object.keys(environment))],
  ['systemd', [...settingsOfUnit, ...settingsOfExample].map(([name]) => name)],
  [
    'Kubernetes',
    [
      ...settingsOfMap.map(([name]) => name),
      ...pods.flatMap((pod) => containersOf(pod).flatMap(({ env = [] }) => env.map(({ name }) => name))),
    ],
  ],
]
