create or replace function usage_of_all_in_step() returns trigger
language plpgsql
as $$
begin
  insert into usage_of_all as usage (day, product, country_code, crop_code, slot, advisories)
  select day, product, country_code, crop_code, 0, -sum(advisories) from removed
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict (day, product, country_code, crop_code, slot)
    do update set advisories = usage.advisories + excluded.advisories;
  return null;
end
$$;

comment on function usage_of_all_in_step() is
  'Subtracts from usage_of_all what is deleted from user_usage. Who adds usage adds it to both: see keep_history_items.';

create or replace trigger usage_of_all_in_step_with_removed after delete on user_usage
  referencing old table as removed for each statement execute function usage_of_all_in_step();
