import { OBJECT_TB, SERVERS, VOLUME_GB } from './prices.ts'

/** Machines of one kind. */
export interface Machines {
  count: number
  cores: keyof typeof SERVERS
}

/** What is paid for. */
export interface Bill {
  services: Machines
  members: Machines
  /** What PostgreSQL holds, once. */
  databaseBytes: number
  /** What is in files. */
  fileBytes: number
}

/** Euro a month. */
export interface Cost {
  machines: number
  volumes: number
  objects: number
  total: number
}

/** A disk is to be so much larger than what it holds: write-ahead log, vacuum, and room to grow. Assumed. */
export const DISK_ROOM = 1.3

/** What is kept of PostgreSQL in object storage, so many times: a base backup, and a second with its log. Assumed. */
export const BACKUPS = 2

/** What it costs a month; each member has a whole copy of the database on a volume. */
export function costOf({ services, members, databaseBytes, fileBytes }: Bill): Cost {
  const machines = [services, members].reduce((sum, { count, cores }) => sum + count * SERVERS[cores].euro, 0)
  const volumes = (members.count * DISK_ROOM * databaseBytes * VOLUME_GB.euro) / 1e9
  const objects = ((BACKUPS * databaseBytes + fileBytes) * OBJECT_TB.euro) / 1e12
  return { machines, volumes, objects, total: machines + volumes + objects }
}
