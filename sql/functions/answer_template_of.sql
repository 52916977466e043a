create or replace function answer_template_of(
  product text, kind text, country_code text, crop_code text, releases text[], pieces text[]
) returns table (template_id bigint, subject_id smallint)
language plpgsql
as $$
#variable_conflict use_column
declare
  wanted constant bytea = sha256(
    convert_to(
      jsonb_build_array($1, $2, $3, crop_named($4), to_jsonb($5), to_jsonb($6))::text,
      'UTF8'
    )
  );
begin
  return query select id, subject_id from answer_template where checksum = wanted;
  if found then
    return;
  end if;
  insert into history_subject (product, kind, country_code)
  select $1, $2, $3
  where not exists (select from history_subject where product = $1 and kind = $2 and country_code = $3)
  on conflict do nothing;
  insert into answer_template (checksum, subject_id, crop_code, releases, pieces)
  select wanted, id, crop_named($4), $5, $6
  from history_subject
  where product = $1 and kind = $2 and country_code = $3
  on conflict do nothing;
  return query select id, subject_id from answer_template where checksum = wanted;
end
$$;

comment on function answer_template_of is
  'The template of answers of some releases, which is kept from the first time on that it is asked for.';
