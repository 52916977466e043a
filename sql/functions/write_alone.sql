-- What a statement of an older version adds is counted row by row, in the order of the rows: beside others it could
-- wait for one that waits for it. It is alone from before its first row until its end.
create or replace function write_alone() returns trigger
language plpgsql
as $$
begin
  -- Any constant will do that keep_history_items has, too, and nothing else.
  perform pg_advisory_xact_lock(7239447);
  return null;
end
$$;

comment on function write_alone() is
  'Has a statement of a version before 0020 keep items while no other one does.';
