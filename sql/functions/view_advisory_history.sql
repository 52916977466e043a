create or replace view advisory_history as
select
  item.id, item.user_id, uuid_time(item.id) as created_at, subject.kind, subject.product, subject.country_code,
  coalesce(item.crop_code, template.crop_code) as crop_code, template.releases, item.request::json as request,
  answer_written(template.pieces, item.answer)::json as answer, item.bytes
from history_item as item
join answer_template as template on template.id = item.template_id
join history_subject as subject on subject.id = item.subject_id;

comment on view advisory_history is 'Items of histories with their subjects, and with answers as they were given.';
