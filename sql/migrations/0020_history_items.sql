-- Items of histories take a tenth of the room: what was answered to a point is kept as its values, with a template
-- that the answers of a release have in common. Ids say the time: items are found and listed by them alone, and a
-- month is a partition.
--
-- What was kept before stays where it is, in the table that is called advisory_history_json from now on. Processes of
-- older versions go on with a view in its place.

create table history_subject (
  id smallint generated always as identity primary key,
  product text not null,
  kind text not null check (kind in ('point', 'polygon')),
  country_code text not null,
  unique (product, kind, country_code)
);
comment on table history_subject is 'What a history can be filtered by, but for the time.';
comment on column history_subject.product is 'all where one call answered for every product.';

create table answer_template (
  id bigint generated always as (('x' || left(encode(checksum, 'hex'), 16))::bit(64)::bigint) stored primary key,
  checksum bytea not null unique,
  subject_id smallint not null references history_subject,
  crop_code text,
  releases text[] not null,
  pieces text[]
);
comment on table answer_template is
  'What answers of a release have in common. Nothing in it refers to a release or a country that may change or go, and nothing is deleted.';
comment on column answer_template.id is
  'Follows from all the rest: where rows were lost, an id that a process still knows is of no other template.';
comment on column answer_template.checksum is 'SHA-256 of all the rest.';
comment on column answer_template.crop_code is 'None where no product asked for has seasons, and where items have a crop of their own.';
comment on column answer_template.releases is 'The codes of the releases that answered.';
comment on column answer_template.pieces is 'The text of the answers around what they differ in; none where items have their answers as a whole.';

create table history_item (
  id uuid not null,
  user_id uuid not null,
  template_id bigint not null,
  bytes integer not null,
  subject_id smallint not null,
  crop_code text,
  request text not null,
  answer text not null,
  primary key (user_id, id)
) partition by range (id);
create index on history_item (user_id, subject_id, id);
comment on table history_item is
  'Advisories that callers with a token were given. A partition is a month. There are no foreign keys, which would be looked up for each item: templates and subjects are never deleted, and what belongs to an account is removed with it.';
comment on column history_item.id is 'A UUID of version 7: it begins with the milliseconds since 1970.';
comment on column history_item.bytes is 'Length of request and answer: how large it is in an answer.';
comment on column history_item.crop_code is 'Where the template does not say it.';
comment on column history_item.request is 'JSON.';
comment on column history_item.answer is
  'JSON, or what stands between the pieces of the template: a line each, which is JSON itself.';

-- The months before this one have one partition: nothing is kept in them but what is imported, or by a clock that
-- is slow. sql/functions/create_history_months.sql makes those to come.
do $$
begin
  execute format(
    'create table history_item_earlier partition of history_item for values from (minvalue) to (%L)',
    rpad(lpad(to_hex((extract(epoch from date_trunc('month', now(), 'UTC')) * 1000)::bigint), 12, '0'), 32, '0')::uuid
  );
end
$$;

-- Feedback is given to items of both tables: triggers do what a foreign key would.
alter table advisory_feedback drop constraint advisory_feedback_history_id_fkey;

alter table advisory_history rename to advisory_history_json;
comment on table advisory_history_json is
  'Items of histories that versions before 0020 have kept, or still keep while they run beside a newer one.';
