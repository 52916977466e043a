import { sql } from 'kysely'
import { expect, vi } from 'vitest'
import { startApp } from '#test/setup/app.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const service = openService()

testOnServer('two processes share the releases without hashes, and compute each once', async () => {
  const { app, database, testDatabase } = service
  const listRoots = async () => {
    const { rows } = await sql<{ code: string; root: Buffer | null }>`
      select code, root from release left join release_proof on release_id = id order by code`.execute(
      database.writer,
    )
    return rows
  }
  const before = await listRoots()
  expect(before.length).toBeGreaterThan(3)
  await database.pool.query(`
    create table computed (release_id bigint);
    create function note_computed() returns trigger language plpgsql as $$
    begin
      insert into computed values (new.release_id);
      return new;
    end $$;
    create trigger note_computed after insert or update on release_proof for each row
    when (new.root is not null) execute function note_computed();
    delete from proof_node;
    delete from release_proof`)
  const other = await startApp(testDatabase.config)
  try {
    await vi.waitFor(async () => {
      for (const one of [app, other.app]) one.jobs.wake('hash-releases')
      expect(await listRoots()).toEqual(before)
    }, PATIENCE)
  } finally {
    await other.close()
  }
  const { rows } = await sql<{ times: number }>`
    select count(*)::integer as times from computed group by release_id`.execute(database.writer)
  expect(rows).toEqual(before.map(() => ({ times: 1 })))
})
