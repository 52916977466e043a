-- While processes of the version before 0006 are running, they write and read a column for each of three
-- values that were observed. A later migration drops these columns with this function and its trigger.
create or replace function feedback_columns_in_step() returns trigger
language plpgsql
as $$
declare
  of_columns constant jsonb := jsonb_strip_nulls(
    jsonb_build_object(
      'yield_kg_ha', new.yield_kg_ha, 'rate_kg_ha', new.rate_kg_ha, 'rate_tons_ha', new.rate_tons_ha
    )
  );
  columns_written boolean := new.observed is null;
begin
  if tg_op = 'UPDATE' then
    columns_written := new.observed is not distinct from old.observed
      and (new.yield_kg_ha, new.rate_kg_ha, new.rate_tons_ha)
        is distinct from (old.yield_kg_ha, old.rate_kg_ha, old.rate_tons_ha);
  end if;
  if columns_written then
    new.observed := of_columns;
  else
    new.yield_kg_ha := (new.observed ->> 'yield_kg_ha')::float8;
    new.rate_kg_ha := (new.observed ->> 'rate_kg_ha')::float8;
    new.rate_tons_ha := (new.observed ->> 'rate_tons_ha')::float8;
  end if;
  return new;
end
$$;

comment on function feedback_columns_in_step() is
  'Keeps advisory_feedback.observed and the columns of before in step, whichever of them is written.';

create or replace trigger columns_in_step before insert or update on advisory_feedback
  for each row execute function feedback_columns_in_step();
