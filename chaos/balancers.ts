import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cleanup, temporaryFolder } from '#bench/cleanup.ts'
import { until } from '#bench/load/loops.ts'
import { freePort, stopProcess } from '#bench/processes.ts'

/** The ports that the configurations have, as they are documented: of the balancer, and of two processes of the service. */
const WRITTEN_PORTS = [8080, 3001, 3002]

const START_TIMEOUT_MS = 10_000

/** What a balancer is started with, in a folder that is its own. */
const COMMANDS = {
  haproxy: {
    configuration: '../ops/haproxy/balancer.cfg',
    file: 'haproxy.cfg',
    command: ['haproxy', '-q', '-db', '-f', 'haproxy.cfg'],
    around: (text: string) => text,
  },
  nginx: {
    configuration: '../ops/nginx/balancer.conf',
    file: 'nginx.conf',
    command: ['nginx', '-p', '.', '-c', 'nginx.conf', '-g', 'daemon off;'],
    around: (text: string) => `
pid nginx.pid;
events {}
http {
access_log off;
error_log /dev/null crit;
client_body_temp_path body;
proxy_temp_path proxy;
fastcgi_temp_path fastcgi;
uwsgi_temp_path uwsgi;
scgi_temp_path scgi;
${text}
}
`,
  },
}
export type Balancer = keyof typeof COMMANDS

/**
 * Starts a balancer that is installed here, with the configuration that operators copy.
 *
 * @param ports of two processes of the service
 * @returns the port that it listens at
 */
export async function startBalancer(cleanup: Cleanup, balancer: Balancer, ports: number[]): Promise<number> {
  const { configuration, file, command, around } = COMMANDS[balancer]
  const folder = temporaryFolder(cleanup, `chaos-${balancer}`)
  const port = await freePort()
  const used = [port, ...ports]
  const written = readFileSync(new URL(configuration, import.meta.url), 'utf8')
  const text = written.replace(/(?<=127\.0\.0\.1:)\d+/g, (was) =>
    String(used[WRITTEN_PORTS.indexOf(Number(was))]),
  )
  writeFileSync(join(folder, file), around(text))
  const [program, ...parameters] = command as [string, ...string[]]
  const child = spawn(program, parameters, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  cleanup.add(() => stopProcess(child))
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  const answers = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined)
    return answer?.ok === true
  }
  if (!(await until(answers, START_TIMEOUT_MS, 100))) throw new Error('the balancer did not start in time')
  return port
}
