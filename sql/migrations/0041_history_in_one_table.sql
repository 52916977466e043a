-- One table has the items of all versions. Ids of moved items say their time, and the ids of before find them.
-- An upgrade from 1.0.0 needs a stop.
-- breaks: older versions

create table history_former_id (
  id uuid primary key,
  item_id uuid not null
);
comment on table history_former_id is
  'Ids that items of version 1.0.0 had in answers of before. A row is of use as long as its item is there.';

-- Those who have 1.0.0 have no partition for this month yet: sql/functions/create_history_months.sql comes later.
do $$
declare
  month constant timestamptz = date_trunc('month', now(), 'UTC');
  partition constant text = to_char(month at time zone 'UTC', '"history_item_"YYYY_MM');
  bounds text[] = array(
    select rpad(lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0'), 32, '0')
    from unnest(array[month, (month at time zone 'UTC' + interval '1 month') at time zone 'UTC']) as moment
  );
begin
  if to_regclass(partition) is null then
    execute format('create table %I (like history_item including defaults including constraints)', partition);
    execute format(
      'alter table history_item attach partition %I for values from (%L) to (%L)', partition, bounds[1], bounds[2]
    );
  end if;
end
$$;

lock table advisory_history_json in access exclusive mode;

insert into history_former_id (id, item_id)
select
  id,
  overlay(
    overlay(id::text placing '7' from 15) placing overlay(
      lpad(to_hex(floor(extract(epoch from least(created_at, now())) * 1000)::bigint), 12, '0') placing '-' from 9 for 0
    ) from 1
  )::uuid
from advisory_history_json;

insert into history_subject (product, kind, country_code)
select distinct product, kind, country_code from advisory_history_json
on conflict do nothing;

-- As sql/functions/answer_template_of.sql does it for answers that are kept as a whole.
create temporary table moved on commit drop as
select
  item_id, user_id, bytes, subject.id as subject_id, crop_code, releases, request::text, answer::text,
  sha256(convert_to(jsonb_build_array(product, kind, country_code, null, to_jsonb(releases), null)::text, 'UTF8'))
    as checksum
from advisory_history_json
join history_former_id as former using (id)
join history_subject as subject using (product, kind, country_code);

insert into answer_template (checksum, subject_id, releases)
select distinct checksum, subject_id, releases from moved
on conflict do nothing;

insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
select item_id, user_id, template.id, bytes, template.subject_id, moved.crop_code, request, answer
from moved join answer_template as template using (checksum);

update advisory_feedback set history_id = item_id
from history_former_id as former where former.id = history_id;
update history_share set history_id = item_id
from history_former_id as former where former.id = history_id;

drop view if exists advisory_history;
drop table advisory_history_json;
drop function if exists write_as_before();
drop function if exists write_alone();

-- What is observed of which product is in one column.
drop trigger if exists columns_in_step on advisory_feedback;
drop function if exists feedback_columns_in_step();
alter table advisory_feedback drop column yield_kg_ha, drop column rate_kg_ha, drop column rate_tons_ha;

-- Counts by day are removed before the removal of an account ends.
drop trigger if exists removal_ends on account_removal;
drop function if exists account_removal_ends();
