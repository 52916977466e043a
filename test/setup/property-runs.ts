/** How often a property is tried: on the embedded database, which computes several times as long, a third as often. */
export function runsOf(count: number): number {
  return process.env.TEST_DATABASE_KIND === 'embedded' ? Math.ceil(count / 3) : count
}
