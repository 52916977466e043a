-- PostgreSQL ends an autovacuum that somebody has waited for as long as deadlock_timeout (a second). Who waits for a lock like
-- its own is in nobody's way meanwhile: items are read and kept. A vacuum that an operator has begun is not ended.
create or replace function keep_vacuum_away(relation regclass) returns void
language plpgsql set lock_timeout = '5s'
as $$
begin
  execute format('lock table %s in share update exclusive mode', relation);
end
$$;

comment on function keep_vacuum_away(regclass) is
  'Ends an autovacuum of a table, and has none begin until the transaction ends.';

revoke execute on function keep_vacuum_away(regclass) from public;
