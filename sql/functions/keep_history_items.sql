-- A function, because its plans are kept: to plan these statements takes longer than to execute them. By its costs alone
-- PostgreSQL would rather plan the large one each time. A kept plan may be of empty tables, and is to hold when they are
-- large: so it reads none of them as a whole.
--
-- Callers whose accounts are gone, or are just being deleted, are passed over: waiting for the deletion would make
-- all the others wait. Counts are changed in one order everywhere, so that two processes never wait for each other.
create or replace function keep_history_items(
  ids uuid[],
  user_ids uuid[],
  subject_ids smallint[],
  template_ids bigint[],
  sizes integer[],
  crop_codes text[],
  requests text[],
  answers text[],
  most_items bigint,
  most_bytes bigint
) returns table (user_id uuid, kept boolean, items bigint, bytes bigint)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  -- For all of them at once, where a foreign key would look for each. Subjects have numbers, which may be given to others
  -- after some were lost: that of the template is the right one.
  if exists (
    select template_id, subject_id from unnest(template_ids, subject_ids) as named (template_id, subject_id)
    except
    select id, subject_id from answer_template where id = any (template_ids)
  ) then
    raise foreign_key_violation using message = 'an item has a template that is not there';
  end if;
  return query
    with arriving as materialized (
      select
        id, user_id, subject_id, template_id, bytes,
        -- As crop_named() says it, which would be planned for each of them.
        coalesce(crop_alias.crop_code, arriving.crop_code) as crop_code,
        request, answer
      from unnest(ids, user_ids, subject_ids, template_ids, sizes, crop_codes, requests, answers)
        as arriving (id, user_id, subject_id, template_id, bytes, crop_code, request, answer)
      left join crop_alias on alias = arriving.crop_code
    ),
    living as materialized (
      select
        app_user.id,
        most_items is null
          or (coalesce(size.items, 0) < most_items and coalesce(size.bytes, 0) < most_bytes) as kept,
        coalesce(size.items, 0) as items,
        coalesce(size.bytes, 0) as bytes
      from app_user left join history_size as size on size.user_id = app_user.id
      where app_user.id = any (user_ids)
      for key share of app_user skip locked
    ),
    accepted as materialized (
      select * from arriving where user_id in (select id from living where kept)
    ),
    -- A crop that nobody knows is a text of the caller: a row of each would be kept as long as the account.
    summed as materialized (
      select
        user_id, day, product, country_code,
        coalesce(
          case when exists (select from crop where code = accepted.crop_code) then accepted.crop_code end,
          template.crop_code
        ) as crop_code,
        sum(advisories) as advisories
      from (
        select user_id, template_id, crop_code, (uuid_time(id) at time zone 'UTC')::date as day, count(*) as advisories
        from accepted
        group by 1, 2, 3, 4
      ) as accepted
      join answer_template as template on template.id = template_id
      join history_subject as subject on subject.id = subject_id
      group by 1, 2, 3, 4, 5
    ),
    counted as (
      insert into user_usage as usage (user_id, day, product, country_code, crop_code, advisories)
      select user_id, day, product, country_code, crop_code, advisories from summed
      order by 1, 2, 3, 4, 5
      on conflict (user_id, day, product, country_code, crop_code)
        do update set advisories = usage.advisories + excluded.advisories
    ),
    counted_of_all as (
      insert into usage_of_all as usage (day, product, country_code, crop_code, slot, advisories)
      select day, product, country_code, crop_code, pg_backend_pid() % 16, sum(advisories) from summed
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      on conflict (day, product, country_code, crop_code, slot)
        do update set advisories = usage.advisories + excluded.advisories
    ),
    measured as (
      insert into history_size as size (user_id, items, bytes)
      select user_id, count(*), sum(bytes) from accepted group by user_id order by user_id
      on conflict (user_id)
        do update set items = size.items + excluded.items, bytes = size.bytes + excluded.bytes
    ),
    added as (
      insert into history_item (id, user_id, subject_id, template_id, bytes, crop_code, request, answer)
      select id, user_id, subject_id, template_id, bytes, crop_code, request, answer from accepted
    )
    select id, kept, items, bytes from living;
end
$$;

comment on function keep_history_items is
  'Adds items to the histories of those whose accounts are there, and counts them. Says of each whether they were kept, which is not so where the history held as much as the last arguments say, and how much it held.';
