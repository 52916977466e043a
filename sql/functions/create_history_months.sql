-- With its owner's rights: the role of the service may change no table. It waits for nobody who reads or keeps items.
create or replace function create_history_months(through timestamptz) returns setof text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  last_end timestamp;
  month timestamp;
  partition text;
begin
  -- A clock that is wrong is not to make partitions without end.
  if through > now() + interval '1 year' then
    raise invalid_parameter_value using message = format(
      'there are months of histories for a year to come at most, and none for %s: the clock is wrong here or there',
      to_char(through at time zone 'UTC', 'YYYY-MM')
    );
  end if;
  -- Any constant will do, as long as it is this one alone.
  perform pg_advisory_xact_lock(7239446);
  select max(uuid_time(ends)) at time zone 'UTC' into last_end from history_months();
  for month in select generate_series(last_end, through at time zone 'UTC', interval '1 month') loop
    partition = to_char(month, '"history_item_"YYYY_MM');
    execute format('create table %I (like history_item including defaults including constraints)', partition);
    execute format(
      'alter table history_item attach partition %I for values from (%L) to (%L)',
      partition,
      uuid_at(month at time zone 'UTC'),
      uuid_at((month + interval '1 month') at time zone 'UTC')
    );
    return next partition;
  end loop;
end
$$;

comment on function create_history_months(timestamptz) is
  'Makes the partitions of history_item that are not there yet, through the month of a moment, a year to come at most.';

revoke execute on function create_history_months(timestamptz) from public;
