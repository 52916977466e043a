-- Versions before 0020 know one table of items, with all that this view shows. They see what newer ones keep, and
-- newer ones what they keep.
create or replace view advisory_history as
select id, user_id, created_at, kind, product, country_code, crop_code, releases, request, answer, bytes
from advisory_history_json
union all
select
  item.id, item.user_id, uuid_time(item.id), subject.kind, subject.product, subject.country_code,
  coalesce(item.crop_code, template.crop_code), template.releases, item.request::json,
  answer_written(template.pieces, item.answer)::json, item.bytes
from history_item as item
join answer_template as template on template.id = item.template_id
join history_subject as subject on subject.id = item.subject_id;

comment on view advisory_history is 'All items of histories, whichever version has kept them.';

create or replace function write_as_before() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into advisory_history_json (
      id, user_id, created_at, kind, product, country_code, crop_code, releases, request, answer, bytes
    )
    values (
      new.id, new.user_id, new.created_at, new.kind, new.product, new.country_code, new.crop_code, new.releases,
      new.request, new.answer, new.bytes
    );
    return new;
  end if;
  delete from history_item where user_id = old.user_id and id = old.id;
  if not found then
    delete from advisory_history_json where id = old.id;
  end if;
  return case when found then old end;
end
$$;

comment on function write_as_before() is
  'Lets processes of versions before 0020 keep and delete items, as they were when the history was one table.';

create or replace trigger write_alone before insert on advisory_history
  for each statement execute function write_alone();

create or replace trigger write_as_before instead of insert or delete on advisory_history
  for each row execute function write_as_before();
