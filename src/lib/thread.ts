import { type ResourceLimits, Worker } from 'node:worker_threads'

/** Starts a thread with a TypeScript file, which finds the data in `workerData`. */
export function startThread(file: URL, data: object = {}, resourceLimits: ResourceLimits = {}): Worker {
  const workerData = { ...data, file: file.href }
  return new Worker(new URL('./thread-boot.mjs', import.meta.url), { workerData, resourceLimits })
}
