import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '#bench/processes.ts'
import { newFolder } from '#test/setup/folders.ts'

const NGINX = '/usr/sbin/nginx'

/** Whether Debian's nginx is not installed. */
export const MISSING = spawnSync(NGINX, ['-v']).error !== undefined

export interface Nginx {
  port: number
  stop(): Promise<void>
}

/** Starts nginx with a folder that can be written as well. */
export async function startNginx(folder: string): Promise<Nginx> {
  const port = await freePort()
  const own = await newFolder()
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${own}/${kind};`)
    .join(' ')
  await writeFile(
    join(own, 'nginx.conf'),
    `${user} daemon off; pid ${own}/pid; error_log stderr; events {} http { access_log off; ${paths}
     client_max_body_size 100m;
     server { listen 127.0.0.1:${port}; root ${folder};
       location / { dav_methods PUT DELETE; create_full_put_path on; } } }`,
  )
  const nginx = spawn(NGINX, ['-p', own, '-c', join(own, 'nginx.conf')], { stdio: 'ignore' })
  while (!(await answers(port))) await setTimeout(20)
  return {
    port,
    async stop() {
      nginx.kill()
      await once(nginx, 'exit')
    },
  }
}

async function answers(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
  await response?.body?.cancel()
  return response !== undefined
}
