insert into auth_throttle as known (subject, failures, first_failure_at, last_failure_at, blocked_until)
values ($1, 1, now(), now(), now())
on conflict (subject) do update set
failures = case when "known"."first_failure_at" < now() - make_interval(secs => $2::float8) then 1 else known.failures + 1 end,
first_failure_at = case when "known"."first_failure_at" < now() - make_interval(secs => $3::float8) then now() else known.first_failure_at end,
last_failure_at = now(),
blocked_until = case
when "known"."first_failure_at" < now() - make_interval(secs => $4::float8) or known.failures < $5::integer then now()
else now() + make_interval(secs => least(
$6::float8,
$7::float8 * power(2, least(known.failures - $8::integer, 30))
))
end where known.blocked_until <= clock_timestamp() returning 1;

insert into auth_throttle as known (subject, failures, first_failure_at, last_failure_at, blocked_until)
values ($1, 1, now(), now(), now())
on conflict (subject) do update set
failures = case when "known"."last_failure_at" < now() - make_interval(secs => $2::float8) then 1 else known.failures + 1 end,
first_failure_at = case when "known"."last_failure_at" < now() - make_interval(secs => $3::float8) then now() else known.first_failure_at end,
last_failure_at = now(),
blocked_until = case
when "known"."last_failure_at" < now() - make_interval(secs => $4::float8) or known.failures < $5::integer then now()
else now() + make_interval(secs => least(
$6::float8,
$7::float8 * power(2, least(known.failures - $8::integer, 30))
))
end where known.blocked_until <= clock_timestamp() returning 1;

insert into raster_tile (coverage_id, tile_row, tile_column, rast)
values ($1, $2, $3, $4::raster);

delete from raster_tile
where coverage_id = $1 and tile_row >= $2 and tile_row < $3;

delete from tile_summary
where coverage_id = $1 and level = 0 and block_row >= $2 and block_row < $3;

insert into audit_record (kind) values ('login') returning id;

insert into audit_record (kind, user_id)
select $1, $2::uuid from generate_series(1, $3::integer);

select delete_history_items($1, '00000000-0000-0000-0000-000000000000', $2);

select pg_is_in_recovery() as replica from pg_sleep(0.1);

select template_id::text as id
from answer_template_of('yield', 'point', 'eth', 'wheat', '{a-release}', $1::text[]);

update subscription
set
secret = case when secret = $1::bytea then $2::bytea else secret end,
previous_secret = case
when previous_secret = $3::bytea then $4::bytea
else previous_secret
end
where id = $5 and $6::bytea in (secret, previous_secret);

update webhook_delivery set leased_until = leased_until - interval '10 seconds'
where id = $1;

delete from field
where ctid = any (array(select ctid from field where collection_id = $1 limit $2));

insert into admin_area (
country_code, level, code, name, geom, area_km2, west, south, east, north, centroid_lng, centroid_lat,
positions, simplified)
select country_code, level, 'new ' || number, name, geom, area_km2, west, south, east, north, centroid_lng,
centroid_lat, positions, simplified
from (select * from admin_area where level = 1 limit 1) as area, generate_series(1, 2000) as number;

insert into advisory_feedback (history_id, user_id, rating)
select gen_random_uuid(), gen_random_uuid(), 3 from generate_series(1, 2000);

insert into advisory_feedback (history_id, user_id, rating)
select id, user_id, 3 from history_item where user_id = $1;

insert into audit_record (kind, at)
select 'login', now() - interval '12 months' - make_interval(mins => n - 1) from generate_series(1, 2100) as n;

insert into audit_record (kind, network) select 'login_failed', '192.0.2.9' from generate_series(1, 100);

insert into audit_record (kind, network) select 'login_failed', n::text from generate_series(1, 1000) as n;

insert into field (collection_id, id, place, name, properties, longitude, latitude, area_ha, shape)
select $1, sent.*
from unnest(
$2::text[],
$3::bigint[],
$4::text[],
$5::text[],
$6::float8[],
$7::float8[],
$8::float8[],
$9::bytea[]
) as sent
on conflict do nothing
returning id;

insert into history_size (user_id, items, bytes)
values ($1, $2, $3);

insert into idempotency_record (id, user_id, attempt, begun_at, answer)
select decode(md5(n::text), 'hex'), $1, gen_random_uuid(), now() - make_interval(secs => n), '\x00'
from generate_series(1, 10100) as n;

insert into refresh_token (hash, session_id, expires_at)
select sha256(convert_to(number::text, 'UTF8')), session_id, refresh_token.expires_at
from generate_series(1, 2500) as number, refresh_token
join session on session.id = session_id
where user_id = $1 and used_at is not null;

insert into session (user_id, expires_at)
select $1, now() + interval '1 day' from generate_series(1, 100);

select
own.id = draft.id or (own.state = 'kept' and own.name <> draft.name) as stays,
sum(own.fields)::float8 as fields,
sum(own.bytes)::float8 as bytes
from field_collection as own
join field_collection as draft on draft.id = $1
where own.user_id = $2
group by stays;

select code from admin_area
where country_code = 'eth' and level = 2 and st_covers(geom, st_setsrid(st_makepoint(38.5, 9.5), 4326));

select code from admin_area where country_code = 'rwa' and level = 2 order by positions desc, code limit 4;

select detach_history_month((date_trunc('month', least(now(), $1::timestamptz) at time zone 'UTC') - make_interval(months => $2::integer)) at time zone 'UTC') as detached;

select from session where user_id = $1 and ended_at is null;

select id from field_collection
where state <> 'kept' and changed_at < now() - interval '1 hour'
order by changed_at
limit 1;

select pg_try_advisory_xact_lock(1) as alone, 
set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select pg_try_advisory_xact_lock(7239444) as alone, 
set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select pg_try_advisory_xact_lock(7239448) as alone, 
set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select pg_try_advisory_xact_lock(7239450) as alone, 
set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select pg_try_advisory_xact_lock(7239464) as alone, 
set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select pg_try_advisory_xact_lock(7239465) as alone, 
set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select pg_try_advisory_xact_lock(7239475) as alone, 
set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select relname as name from pg_attribute join pg_class on pg_class.oid = attrelid
where attname = 'user_id' and relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')
and not relispartition;

update field_collection
set changed_at = now(), fields = fields + $1, bytes = bytes + $2::bigint
where id = $3;

update field_collection as old set state = 'gone', changed_at = now()
from field_collection as draft
where draft.id = $1 and old.user_id = draft.user_id and old.name = draft.name and old.state = 'kept';

update field_collection set state = 'gone', changed_at = '-infinity'
where user_id = $1 and (
state = 'gone' or (state = 'draft' and id <> $2 and changed_at < now() - interval '3 minutes')
);

update subscription
set disabled_at = clock_timestamp(), disabled_reason = $1,
failing_since = coalesce(failing_since, clock_timestamp()), tried_at = 
coalesce(tried_at, created_at) + (clock_timestamp() - coalesce(tried_at, created_at)) * (
select power(least(1, extract(epoch from clock_timestamp() - max(leased_until)) + $2::integer), 2)
from webhook_delivery
where subscription_id = subscription.id and done_at is null
)::float8
where id = $3 and disabled_at is null;

update subscription set failing_since = coalesce(failing_since, clock_timestamp()), tried_at = 
coalesce(tried_at, created_at) + (clock_timestamp() - coalesce(tried_at, created_at)) * (
select power(least(1, extract(epoch from clock_timestamp() - max(leased_until)) + $1::integer), 2)
from webhook_delivery
where subscription_id = subscription.id and done_at is null
)::float8
where id = $2;

update webhook_delivery
set due_at = clock_timestamp() + make_interval(secs => $1::float8), leased_until = null
where id = $2 and attempts = $3 and done_at is null;

update webhook_delivery set done_at = clock_timestamp(), delivered = false, leased_until = null
where subscription_id = $1 and done_at is null;

with newest as (
select distinct on (product, country_code, crop_code, forecast_period) id
from release
where status = 'ready'
order by product, country_code, crop_code, forecast_period, id desc
),
answering as (
select
release.id, release.code, release.country_code, publish_at,
publication.release_id is not null as is_published
from release
left join publication on publication.release_id = release.id
left join scheduled_publication as scheduled
on scheduled.release_id = release.id and refused_at is null
where status = 'ready' and (
publication.release_id is not null
or scheduled.release_id is not null
or release.id in (select id from newest)
)
),
present as (
select
concat(boundaries_version(), ' ', string_agg(id::text, ' ' order by id)) as state,
not exists (select from area_claim) as alone
from answering
),
missing as (
select answering.id as release_id, answering.code as release, area.id, area.code, version
from present
cross join (select * from answering order by is_published, publish_at, id desc) as answering
cross join lateral (
select area.id, area.code, boundary_set.loaded_at::text as version
from admin_area as area
join boundary_set using (country_code, level)
where area.country_code = answering.country_code
and not exists (
select from area_result
where release_id = answering.id
and admin_area_id = area.id
and boundaries_loaded_at = boundary_set.loaded_at
-- Nothing is stored over the result of a newer version of the service.
and statistics_version >= $1
)
and not exists (
select from area_claim where release_id = answering.id and admin_area_id = area.id
)
limit $2::integer
) as area
where state is distinct from $3
order by is_published, publish_at, answering.id desc
limit $4::integer
),
claimed as (
insert into area_claim (release_id, admin_area_id, leased_until)
select release_id, id, now() + make_interval(mins => $5::integer)
from missing
)
select state, alone, release_id as "releaseId", release, id, code, version
from present
left join missing on true;

with pending as materialized (
select distinct on (subscription_id)
webhook_delivery.id, subscription_id, due_at, user_id, host,
coalesce(webhook_delivery.leased_until > now(), false) as running
from webhook_delivery
join subscription on subscription.id = subscription_id
where done_at is null and disabled_at is null
order by subscription_id, webhook_delivery.created_at, webhook_delivery.id
),
counted as (
select
*,
count(*) filter (where running) over (partition by user_id) as running_of_user,
count(*) filter (where running) over (partition by host) as running_at_host
from pending
),
-- New accounts queue up behind those that have waited since before.
turns as (
select user_id, max(coalesce(tried_at, created_at)) as last_turn
from subscription
where user_id in (select user_id from pending)
group by user_id
),
due as (
select
id, due_at, host, running_at_host, last_turn,
running_of_user + row_number() over (partition by user_id order by due_at, id) as of_user
from counted
join turns using (user_id)
where not running and due_at <= now()
),
-- Accounts alternate, also at a host that many of them share: no account waits for all of another one.
allowed as (
select
id, due_at, last_turn, of_user,
running_at_host + row_number() over (partition by host order by of_user, last_turn, due_at, id) as at_host
from due
where of_user <= $1::integer
),
ordered as (
select id, of_user, row_number() over (order by of_user, last_turn, due_at, id) as ordinal
from allowed
where at_host <= $2::integer
),
chosen as (
select id
from ordered
join webhook_delivery using (id)
where ordinal <= $3::integer and (of_user = 1 or ordinal <= $4::integer) and done_at is null
-- One that another has locked holds up none.
for no key update of webhook_delivery skip locked
)
update webhook_delivery
set leased_until = now() + make_interval(secs => $5::integer), attempts = attempts + 1
from subscription
where subscription.id = subscription_id and webhook_delivery.id in (select id from chosen)
returning
webhook_delivery.id,
subscription_id as "subscriptionId",
user_id as "userId",
url,
body,
secret,
case when previous_until > now() then previous_secret end as "previousSecret",
attempts,
coalesce(extract(epoch from now() - failing_since), 0)::float8 as failing;

delete from admin_area where country_code = $1 and level = any($2::integer[]);

delete from admin_area_piece
where admin_area_id in (
select id from admin_area where country_code = $1 and level = $2
);

delete from api_key_usage
where day < (now() at time zone 'UTC')::date - $1::integer;

delete from area_claim
using unnest(
$1::bigint[],
$2::bigint[]
) as given (release_id, admin_area_id)
where area_claim.release_id = given.release_id
and area_claim.admin_area_id = given.admin_area_id;

delete from boundary_set
where country_code = $1 and level > $2 and approximate
returning level;

delete from idempotency_record
where id in (
select id
from (
select
id,
row_number() over newest_first as place,
sum(octet_length(answer)) over newest_first as bytes
from idempotency_record
where user_id = $1
window newest_first as (order by begun_at desc, id)
) as record
where place > 10000 or bytes > 32000000
);

delete from message
where id in (
(
select id from message
where code is null and (not stopped or of_stranger) and arrived_at < now() - interval '2 days'
limit $1::integer
)
union all
(
select id from message
where code is not null and arrived_at < now() - interval '13 months'
limit $2::integer
)
);

delete from pending_registration where id in (
select id from pending_registration where expires_at < now() limit $1 for update skip locked
);

delete from refresh_token
where hash in (
select hash from refresh_token join session on session.id = session_id
where user_id = $1
limit $2
);

delete from refresh_token where hash in (
select hash from refresh_token
where session_id = $1 and (
expires_at < now() or used_at < clock_timestamp() - make_interval(secs => $2)
)
limit $3
);

delete from refresh_token where hash in (
select hash from refresh_token
where session_id in (select id from session where ended_at is not null)
limit $1
for update skip locked
);

delete from session
where id in (select id from session where user_id = $1 limit $2);

delete from session where id in (
select id from session where ended_at is not null limit $1 for update skip locked
);

delete from user_usage
where ctid = any (array(select ctid from user_usage where user_id = $1 limit $2));

delete from webhook_delivery as old
where done_at < now() - make_interval(days => $1::integer)
and exists (
select from webhook_delivery as newer
where newer.subscription_id = old.subscription_id and newer.created_at > old.created_at
);

insert into advisory_feedback (history_id, user_id, rating)
select id, user_id, 1 from history_item where left(id::text, 18) = left($1, 18) and id <> $2;

insert into advisory_feedback (history_id, user_id, rating, observed)
select one::uuid, user_id, rating, observed
from unnest($1::text[]) as one
cross join advisory_feedback where history_id = $2;

insert into advisory_feedback (history_id, user_id, rating, observed, created_at, updated_at)
select id, user_id, 4, observed, now() - interval '3 months', now() - interval '3 months'
from jsonb_to_recordset($1::jsonb) as one (id uuid, user_id uuid, observed jsonb);

insert into advisory_feedback as feedback (
history_id, user_id, rating, comment, observed, harvested_on
)
select
id, $1::uuid, $2::integer, $3::text, $4::jsonb,
$5::date
from advisory_history
where id = history_item_id($6) and user_id = (select id from app_user where id = $7)
on conflict (history_id) do update set
rating = excluded.rating,
comment = excluded.comment,
observed = excluded.observed,
harvested_on = excluded.harvested_on,
updated_at = now()
returning json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) as feedback;

insert into api_key_usage as kept (key_id, day, requests)
select key_id, day, requests
from unnest(
$1::uuid[], $2::date[], $3::bigint[]
) as arriving (key_id, day, requests)
join api_key on api_key.id = key_id
order by key_id, day
for key share of api_key
on conflict (key_id, day) do update set requests = kept.requests + excluded.requests;

insert into app_user (id, email, email_key, password_hash, name, organisation, email_confirmed, created_at)
select id, email, email_key, password_hash, name, organisation, true, created_at
from pending_registration
where id = $1
on conflict (email_key) do nothing
returning id;

insert into applied_script (kind, name, checksum, breaks_older)
values ($1, $2, $3, $4)
on conflict (kind, name) do update set
replaced = applied_script.replaced || applied_script.checksum,
checksum = excluded.checksum,
applied_at = now();

insert into area_result (
release_id, admin_area_id, boundaries_loaded_at, statistics, statistics_version
)
select
release.id, area.id, boundary_set.loaded_at, $1::jsonb, $2
from admin_area as area
join boundary_set using (country_code, level)
join release on release.id = $3 and release.status = 'ready'
where area.id = $4 and boundary_set.loaded_at = $5::timestamptz
on conflict (release_id, admin_area_id) do update set
boundaries_loaded_at = excluded.boundaries_loaded_at,
statistics = excluded.statistics,
statistics_version = excluded.statistics_version
where area_result.statistics_version <= excluded.statistics_version;

insert into audit_record (kind, user_id, session_id, key_id, network, request_id, operator, detail)
select
$1, $2::uuid, $3::uuid, $4::uuid, $5, $6, $7,
$8::jsonb
where (
select count(*) from (
select from audit_record
where kind = $9 and at > now() - interval '1 hour' and network = $10
limit $11::integer
) as recent
) < $12::integer and (
select count(*) from (
select from audit_record
where kind = $13 and at > now() - interval '1 hour' and true
limit $14::integer
) as recent
) < $15::integer
returning 1;

insert into audit_record (kind, user_id, session_id, key_id, network, request_id, operator, detail)
select
$1, $2::uuid, $3::uuid, $4::uuid, $5, $6, $7,
$8::jsonb
where (
select count(*) from (
select from audit_record
where kind = $9 and at > now() - interval '1 hour' and user_id = $10
limit $11::integer
) as recent
) < $12::integer
returning 1;

insert into audit_record (kind, user_id, session_id, key_id, network, request_id, operator, detail)
select
$1, $2::uuid, $3::uuid, $4::uuid, $5, $6, $7,
$8::jsonb
where true
returning 1;

insert into auth_throttle as known (subject, failures, first_failure_at, last_failure_at, blocked_until)
values ($1, 1, now(), now(), now())
on conflict (subject) do update set
failures = case when "known"."first_failure_at" < now() - make_interval(secs => $2::float8) then 1 else known.failures + 1 end,
first_failure_at = case when "known"."first_failure_at" < now() - make_interval(secs => $3::float8) then now() else known.first_failure_at end,
last_failure_at = now(),
blocked_until = case
when "known"."first_failure_at" < now() - make_interval(secs => $4::float8) or known.failures < $5::integer then now()
else now() + make_interval(secs => least(
$6::float8,
$7::float8 * power(2, least(known.failures - $8::integer, 30))
))
end;

insert into boundary_set (country_code, level, checksum, approximate, source, licence)
values ($1, $2, $3, $4, $5, $6)
on conflict (country_code, level) do update set
checksum = excluded.checksum,
approximate = excluded.approximate,
source = excluded.source,
licence = excluded.licence,
loaded_at = now();

insert into field_weights (collection_id, page, grid, ids, weights)
select id, $1::integer, $2, $3::bytea, $4::bytea
from field_collection where id = $5 and state = 'kept'
for share
on conflict (collection_id, page, grid) do update set ids = excluded.ids, weights = excluded.weights;

insert into history_size (user_id, items, bytes)
select user_id, count(*), sum(bytes) from history_item where user_id = $1 group by user_id;

insert into idempotency_record as record (id, user_id, attempt)
select $1::bytea, $2::uuid, $3::uuid
where $4::uuid is null or exists (select from app_user where app_user.id = $5::uuid)
on conflict (id) do update
set user_id = excluded.user_id, attempt = excluded.attempt, begun_at = now(), answer = null
where record.begun_at < now() - case
when record.answer is null then make_interval(secs => $6::float8)
else interval '1 day'
end
returning id;

insert into plausible_range as range (product, crop_code, minimum, maximum, largest_from, mean_to)
values ($1, $2, $3, $4, $5, $6)
on conflict (product, crop_code) do update set
minimum = excluded.minimum,
maximum = excluded.maximum,
largest_from = coalesce(excluded.largest_from, range.largest_from),
mean_to = coalesce(excluded.mean_to, range.mean_to)
returning product, crop_code as "cropCode", minimum, maximum, largest_from as "largestFrom", mean_to as "meanTo";

insert into proof_node (coverage_id, level, chunk, hashes)
select $1::bigint, level, chunk, hashes
from unnest(
$2::integer[],
$3::integer[],
$4::bytea[]
) as node (level, chunk, hashes)
on conflict (coverage_id, level, chunk) do update set hashes = excluded.hashes;

insert into publication (product, country_code, crop_code, forecast_period, release_id)
values (
$1, $2, $3, $4, $5
)
on conflict (product, country_code, crop_code, forecast_period) do update set
release_id = excluded.release_id,
previous_release_id = publication.release_id,
published_at = now();

insert into raster_tile (coverage_id, tile_row, tile_column, rast)
select $1::bigint, tile_row, tile_column, wkb::raster
from unnest(
$2::integer[],
$3::integer[],
$4::text[]
) as tile (tile_row, tile_column, wkb);

insert into refresh_token (hash, session_id, expires_at)
select $1, id, least(expires_at, now() + make_interval(days => $2))
from session
where id = $3;

insert into request_count as kept (day, operation, status, code, requests, total_ms, max_ms, buckets)
select day, operation, status, code, requests, total_ms, max_ms, latencies::bigint[]
from unnest(
$1::date[], $2::text[], $3::integer[],
$4::text[], $5::bigint[], $6::float8[],
$7::float8[], $8::text[]
) as arriving (day, operation, status, code, requests, total_ms, max_ms, latencies)
order by day, operation, status, code
on conflict (day, operation, status, code) do update set
requests = kept.requests + excluded.requests,
total_ms = kept.total_ms + excluded.total_ms,
max_ms = greatest(kept.max_ms, excluded.max_ms),
buckets = array(
select old + new
from unnest(kept.buckets, excluded.buckets) with ordinality as bucket (old, new, place)
order by place
);

insert into skill_counted (release_id, level, key)
select $1::bigint, $2::integer, decode(key, 'hex')
from unnest($3::text[]) as key;

insert into spatial_ref_sys (srid, srtext, proj4text)
values ($1::integer, '', $2), (920000, '', 'of the owner, and of no raster');

insert into spatial_ref_sys (srid, srtext, proj4text) values ($1::integer, $2, $3)
on conflict (srid) do nothing;

insert into tile_summary (coverage_id, level, block_row, block_column, bands)
select $1::bigint, level, block_row, block_column, bands
from unnest(
$2::integer[],
$3::integer[],
$4::integer[],
$5::bytea[]
) as block (level, block_row, block_column, bands);

insert into two_factor as known (user_id, secret)
select id, $1::bytea from app_user where id = $2 for key share
on conflict (user_id) do update set secret = excluded.secret, begun_at = now()
where known.confirmed_at is null
returning 1;

insert into usage_of_all as usage (day, product, country_code, crop_code, slot, advisories)
select day, product, country_code, crop_code, 0, sum(advisories)
from user_usage
where user_id = $1
group by 1, 2, 3, 4
order by 1, 2, 3, 4
on conflict (day, product, country_code, crop_code, slot)
do update set advisories = usage.advisories + excluded.advisories;

select
(select count(*) from advisory_history where user_id = $1) as history,
(select count(*) from advisory_feedback where user_id = $2) as feedback,
(select count(*) from history_size where user_id = $3) as size,
(select count(*) from user_usage where user_id = $4) as usage,
(select count(*) from session where user_id = $5) as sessions,
(select count(*) from api_key where user_id = $6) as keys,
(select count(*) from account_removal) as removals;

select
(select count(*) from advisory_history where user_id = $1) as items,
(select coalesce(sum(bytes), 0) from advisory_history where user_id = $2) as bytes,
(select items from history_size where user_id = $3) as "countedItems",
(select bytes from history_size where user_id = $4) as "countedBytes",
(select count(*) from advisory_feedback where user_id = $5) as ratings;

select
(select count(*) from app_user) as registered,
(
select count(*) from app_user
where exists (
select from user_usage
where user_id = app_user.id and day between $1::date and $2::date
-- One row is looked for, and not all of everybody.
offset 0
)
) as active;

select
(select count(*) from release) as releases,
(select count(*) from publication) as publications,
(select count(*) from coverage) as coverages,
(select count(*) from layer) as layers,
(select count(*) from raster_tile) as tiles;

select
(select email from app_user where id = $1 or email_key = $2 limit 1) as taken,
exists (select from account_removal where user_id = $3)
or exists (select from field_collection where user_id = $4) as going,
exists (
select from audit_record where user_id = $5 and kind = any ($6::text[]) and concat_ws(' ', id, extract(epoch from at)) <> all ($7::text[])
)
-- Records of the time since the copy may have been deleted.
or coalesce((select min(at) from audit_record) > $8::timestamptz, true) as changed;

select
(select email from app_user where id = $1 or email_key = $2 limit 1) as taken,
exists (select from account_removal where user_id = $3)
or exists (select from field_collection where user_id = $4) as going,
exists (
select from audit_record where user_id = $5 and kind = any ($6::text[]) and id > $7
) as changed;

select
area_code,
extract(year from min(forecast_period))::integer as first_year,
extract(year from max(forecast_period))::integer as last_year,
sum(n)::integer as n,
sum(sum_difference) as sum_difference,
sum(sum_absolute) as sum_absolute,
sum(n_range)::integer as n_range,
sum(n_within)::integer as n_within,
sum(n_odds)::integer as n_odds,
sum(sum_brier) as sum_brier,
sum(sum_rps) as sum_rps,
sum(sum_rps_climatology) as sum_rps_climatology
from skill
join release on release.id = skill.release_id
-- The same harvests may be kept with several releases of a month: the last one counts.
where not exists (
select from release as later
join skill as other on other.release_id = later.id
where later.product = release.product and later.country_code = release.country_code
and later.crop_code is not distinct from release.crop_code
and later.forecast_period = release.forecast_period
and not later.synthetic and later.status = 'ready' and later.version > release.version
)
and product = $1 and country_code = $2
and crop_code is not distinct from $3::text
and not synthetic and status = 'ready'
and (
skill.level = 0
or (
skill.level = $4::integer and area_code in (
select area.code
from admin_areas_at($5::float8, $6::float8) as area
where area.country_code = $7 and area.level = $8::integer
)
)
)
group by skill.level, area_code
having sum(n) >= $9::integer
order by skill.level desc, area_code collate "C"
limit 1;

select
boundaries.version as boundaries, 
area.id, area.parent_id as "parentId", area.country_code as "countryCode", area.level, area.code, area.name, area.centroid_lat as lat, area.centroid_lng as lng
from (select boundaries_version() as version) as boundaries
left join admin_area as area on true
order by area.level, area.country_code, area.code;

select
boundaries_version() as boundaries,
coalesce(json_agg(found order by "countryCode", level), '[]'::json) as loaded
from (
select country_code as "countryCode", level, extent.areas, extent.extent, approximate, source, licence
from boundary_set
cross join lateral (
select
count(*)::integer as areas,
case when count(*) > 0 then json_build_array(min(west), min(south), max(east), max(north)) end as extent
from admin_area
where admin_area.country_code = boundary_set.country_code and admin_area.level = boundary_set.level
) as extent
) as found;

select
case
when upper(auth_name) in ('EPSG', 'ESRI') then upper(auth_name) || ':' || auth_srid
else coalesce(substring(srtext from '"[^"]+"'), nullif(proj4text, ''))
end as name
from spatial_ref_sys
where srid = $1;

select
coalesce((select json_agg(release_id order by release_id) from publication), '[]') as ids,
coalesce(
(
select json_agg(release_id order by release_id)
from publication join release on release.id = release_id
where tile_store = 'files'
),
'[]'
) as "inFiles",
boundaries_version() as boundaries,
reference_version() as reference;

select
coalesce(array_agg(distinct input) filter (where input is not null), '{}') as inputs,
coalesce(array_agg(distinct scenario) filter (where scenario is not null), '{}') as scenarios
from publication
join layer on layer.release_id = publication.release_id
where publication.product = $1;

select
code,
name,
array(select alias from "country_alias" where "country_code" = code) as aliases
from "country"
order by code;

select
code,
name,
array(select alias from "crop_alias" where "crop_code" = code) as aliases
from "crop"
order by code;

select
code,
name,
array(select alias from country_alias where country_code = code order by alias) as aliases,
array(select crop_code from country_crop where country_code = code order by crop_code) as crops,
array(select distinct level from admin_area where country_code = country.code order by level) as levels
from country
order by code;

select
code,
name,
array(select alias from crop_alias where crop_code = code order by alias) as aliases,
array(select country_code from country_crop where crop_code = code order by country_code) as countries
from crop
order by code;

select
code, level, positions,
(
select string_agg(loaded_at::text, ' ' order by level) from boundary_set where country_code = $1
) as boundaries
from admin_area
where country_code = $2 and lower(code) = $3
and ($4::integer is null or level = $5)
-- Codes may differ in case alone.
order by code = $6 desc, level
limit 1;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "account_removal" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "account_token" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "admin_area" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "admin_area_piece" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "advisory_feedback" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "answer_template" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "api_key" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "api_key_usage" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "app_user" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "area_claim" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "area_result" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "audit_record" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "auth_throttle" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "boundary_set" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "change_entry" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "companion" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "country" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "country_alias" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "country_crop" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "coverage" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "crop" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "crop_alias" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "field" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "field_collection" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "field_weights" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "granule" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "history_former_id" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "history_item" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "history_item_going" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "history_removal" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "history_share" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "history_size" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "history_subject" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "idempotency_record" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "input_composition" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "layer" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "message" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "pending_registration" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "plausible_range" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "proof_node" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "publication" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "raster_tile" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "recovery_code" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "refresh_token" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "release" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "release_period" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "release_proof" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "request_count" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "scheduled_publication" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "session" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "signing_key" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "skill" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "skill_counted" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "subscription" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "tile_summary" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "two_factor" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "usage_of_all" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "user_usage" as entry;

select
count(*) as rows,
coalesce(
sum(
('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), 15))
::bit(60)::bigint
),
0
)::text as sum
from "webhook_delivery" as entry;

select
count(*) filter (where disabled_at is null)::float8 as active,
count(*) filter (where disabled_at is not null)::float8 as disabled,
count(*) filter (where disabled_at is null and failing_since is not null)::float8 as failing,
(
select extract(epoch from clock_timestamp() - min(due_at))::float8
from webhook_delivery
join subscription on subscription.id = subscription_id
where done_at is null and disabled_at is null
and coalesce(webhook_delivery.leased_until, due_at) < now() and due_at < now()
) as "overdueSeconds"
from subscription;

select
count(*)::integer as count,
case when count(distinct sender) >= $1::integer then avg(rating)::float8 end as mean
from (
select *
from (
select *, row_number() over (partition by sender order by told_at desc) as ordinal
from (
select distinct on (sender, answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng') *
from message
where releases @> array[$2::text] and told_at is not null and rating is not null
order by sender, answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng', told_at desc
) as of_places
) as of_senders
where ordinal <= 5
) as told;

select
count(distinct release_id)::integer as releases,
count(distinct granule.name)::integer as files,
coalesce(sum(granule.bytes), 0)::float8 as bytes
from granule
join coverage on coverage.id = coverage_id
join release on release.id = release_id
where status = 'ready' and tile_store = 'files';

select
country.code,
country.name,
array_remove(array_agg(country_crop.crop_code order by country_crop.crop_code), null) as crops
from country
left join country_crop on country_crop.country_code = country.code
group by country.code
order by country.code;

select
country.code,
country.name,
coalesce(
case when outline.id is not null
then json_build_array(outline.west, outline.south, outline.east, outline.north)
end,
stated.extent
) as extent,
stated.extent as stated
from country
left join admin_area as outline on outline.country_code = country.code and outline.level = 0
cross join lateral (
select case when country.west is not null
then json_build_array(country.west, country.south, country.east, country.north)
end as extent
) as stated
order by country.code;

select
country_code,
level,
(
select count(*) from admin_area
where admin_area.country_code = boundary_set.country_code and admin_area.level = boundary_set.level
) as areas,
approximate,
source,
licence,
to_char("loaded_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as loaded_at
from boundary_set
order by country_code, level;

select
coverage.id,
jsonb_build_object('west', west, 'south', south, 'east', east, 'north', north) as extent,
jsonb_build_object(
'srid', srid, 'originX', origin_x, 'originY', origin_y, 'pixelWidth', pixel_width,
'pixelHeight', pixel_height, 'width', width, 'height', height, 'tileSize', tile_size
) as grid,
input,
scenario,
unit,
jsonb_build_object('validCount', valid_count, 'minimum', minimum, 'maximum', maximum, 'mean', mean) as statistics
from layer
join coverage on coverage.id = coverage_id
where layer.release_id = $1
order by ordinal;

select
coverage.id,
release.tile_store as store,
coverage.srid,
(select proj4text like '%+proj=longlat%' from spatial_ref_sys where srid = coverage.srid) as geographic,
origin_x as "originX",
origin_y as "originY",
pixel_width as "pixelWidth",
pixel_height as "pixelHeight",
width,
height,
tile_size as "tileSize",
summarised and summary_version = $1 as summarised,
west,
south,
east,
north,
jsonb_agg(
jsonb_build_object(
'band', band, 'index', ordinal - 1, 'scale', scale, 'offset', "offset", 'input', input,
'scenario', scenario, 'condition', condition, 'role', role, 'unit', unit, 'decimals', decimals
) order by ordinal
) as bands
from release
join coverage on coverage.release_id = release.id
join lateral (
select ordinal, band, scale, "offset", input, scenario, condition, null as role, unit, decimals
from layer
where coverage_id = coverage.id
union all
select ordinal, band, scale, "offset", input, scenario, condition, role, unit, decimals
from companion
where coverage_id = coverage.id
) as band on true
where release.id = $2 and release.status = 'ready'
group by coverage.id, release.tile_store
order by coverage.id;

select
coverage.id,
release.tile_store as store,
jsonb_build_object(
'srid', srid, 'originX', origin_x, 'originY', origin_y, 'pixelWidth', pixel_width,
'pixelHeight', pixel_height, 'width', width, 'height', height, 'tileSize', tile_size
) as grid
from coverage
join release on release.id = coverage.release_id
where release.status = 'ready' and (not summarised or summary_version < $1)
order by coverage.id;

select
current_user as role,
(select rolsuper from pg_roles where rolname = current_user) as superuser,
coalesce(bool_and(pg_has_role(relowner, 'usage')), true) as owner,
coalesce(array_agg(relname::text) filter (where not has_table_privilege(oid, 'select')), '{}')
as unreadable,
coalesce(array_agg(relname::text) filter (where not has_table_privilege(oid, 'insert')), '{}')
as unwritable
from pg_class
where relnamespace = current_schema()::regnamespace
and relkind in ('r', 'p', 'v')
and relname = any ($1::text[]);

select
id,
code,
product,
country_code as "countryCode",
crop_code as "cropCode",
forecast_period as "forecastPeriod",
synthetic,
source,
licence,
created_at as "createdAt",
valid_until as "validUntil",
conditions,
layers,
companions,
coverages
from release
cross join lateral (
select json_agg(
jsonb_build_object(
'coverageId', coverage_id, 'band', band, 'scale', scale, 'offset', "offset", 'input', input, 'scenario', scenario,
'condition', condition, 'decimals', decimals, 'unit', unit, 'pixelType', pixel_type, 'validCount', valid_count,
'minimum', minimum, 'maximum', maximum
) || jsonb_build_object(
'probability', probability,
'range', case when range_from is not null then jsonb_build_array(range_from, range_to) end
) order by ordinal
) as layers
from layer
where layer.release_id = release.id
) as layer
cross join lateral (
select coalesce(json_agg(jsonb_build_object(
'coverageId', coverage_id, 'band', band, 'scale', scale, 'offset', "offset", 'input', input, 'scenario', scenario,
'condition', condition, 'decimals', decimals, 'unit', unit, 'pixelType', pixel_type, 'validCount', valid_count,
'minimum', minimum, 'maximum', maximum
) || jsonb_build_object('role', role) order by ordinal), '[]') as companions
from companion
where companion.release_id = release.id
) as companion
cross join lateral (
select json_agg(
json_build_object(
'id', id, 'srid', srid, 'originX', origin_x, 'originY', origin_y, 'pixelWidth', pixel_width,
'pixelHeight', pixel_height, 'width', width, 'height', height, 'tileSize', tile_size, 'store', release.tile_store,
'geographic', coalesce(
(select proj4text like '%+proj=longlat%' from spatial_ref_sys where srid = coverage.srid), false
),
'extent', json_build_array(west, south, east, north)
) order by id
) as coverages
from coverage
where coverage.release_id = release.id
) as coverage
where id = any($1::bigint[]) and status = 'ready';

select
pg_is_in_recovery() as recovering,
case when pg_is_in_recovery() then pg_is_wal_replay_paused() else false end as paused,
case when pg_is_in_recovery()
then greatest(0, pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn()))
else 0
end::float8 as behind,
extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as seconds;

select
pg_try_advisory_xact_lock(1) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799593989) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799662073) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799722239) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799736102) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799739184) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799739184) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799762609) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799789216) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799796230) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799887906) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457799927219) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800047184) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800056686) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800123663) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800143743) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800177052) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800188339) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800207561) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800252934) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800268724) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800275900) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800362060) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800368321) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800483321) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800493541) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800600848) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800696545) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800697800) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800715218) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800766129) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800767030) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800783872) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800816234) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800869649) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800882674) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800883623) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800935686) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800935772) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800962456) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457800990198) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801001957) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801034093) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801069411) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801119230) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801121156) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801188283) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801211612) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801220370) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801224636) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801268759) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801309623) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801330216) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801342210) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801348223) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801381742) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801409059) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801473013) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801475387) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801502408) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801519472) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801519648) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801560659) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801608334) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801624968) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801649987) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801651142) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801651142) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801660192) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801678212) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801678212) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801691276) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801700899) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801704193) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801708128) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801738588) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801839422) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801869582) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801882404) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457801916992) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802001045) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802050641) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802058719) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802103492) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802103492) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802245574) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802257418) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802287602) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802288042) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802318818) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802343876) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802348391) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802391318) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802463193) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802491756) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802533642) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802539629) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802547838) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802549797) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802569854) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802579825) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802620107) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802671309) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802691016) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802732823) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802790547) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802832493) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802844220) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802885912) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802891424) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457802992999) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803062515) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803133400) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803264213) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803314180) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803343463) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803374204) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803374857) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803385348) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803406509) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803441033) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803489765) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803522989) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803524563) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803585319) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803638090) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803675515) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803686334) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803711445) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803756303) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803762847) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803771762) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803773416) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803818511) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803895865) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803918948) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803957879) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457803973228) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804023300) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804160525) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804170999) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804180275) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804229594) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804370288) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804390659) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804424840) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804460362) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804501337) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804509578) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804534261) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804571089) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804660687) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804695438) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804708159) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804723206) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804733080) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804753307) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804765705) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804801984) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804868696) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457804972152) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805054021) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805063262) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805165850) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805184160) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805218143) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805251975) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805294599) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805345467) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805419113) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805504573) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805521306) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805615504) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805618039) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805618039) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805620894) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805731304) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805779394) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805812112) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805844636) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805871703) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805881686) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805912228) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805912852) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457805965695) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806010232) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806033203) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806063997) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806067085) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806074635) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806103930) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806241333) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806287903) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806295125) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806365527) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806386859) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806400294) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806400294) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806543688) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806595573) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806600709) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806607218) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806623870) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806628424) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806644344) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806700046) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806759959) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806771723) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806819315) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806870104) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806875157) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457806896127) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807042487) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807067915) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807124967) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807136856) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807148367) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807224498) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807339272) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807366688) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807426850) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807438005) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807449915) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807473273) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807509609) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807546706) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807573737) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807596684) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807625938) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807639247) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807692430) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807742068) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807772129) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807960568) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807961130) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807982010) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457807996125) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808210543) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808355741) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808383445) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808395791) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808400447) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808400468) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808415138) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808422855) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808432980) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808460686) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808480176) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808526922) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808577400) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808636047) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808653225) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808691168) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808697018) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808715546) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808742548) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808750015) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808765640) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808772660) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808786779) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808807251) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808892783) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808933691) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457808980312) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809015103) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809056556) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809101564) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809114862) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809127857) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809241062) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809267869) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809281136) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809311981) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809429857) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809440169) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809588019) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809590301) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809597482) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809604291) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809614067) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809631597) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809655996) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809695489) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809700521) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809724717) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809735540) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809741663) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809764122) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809771672) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809855726) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809857129) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809872359) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809948511) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809961110) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457809999127) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810007869) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810066280) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810090015) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810114593) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810145839) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810161276) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810181009) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810234201) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810285712) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810301940) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810343184) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810389484) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810431504) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810471868) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810489854) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810497566) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810513396) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810566547) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810606152) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810641876) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810663777) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810672047) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810708980) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810751073) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810770460) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810840062) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810862067) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810901167) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810915703) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810962539) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457810967659) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811032811) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811033707) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811058519) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811076453) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811157342) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811235870) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811247415) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811248647) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811258171) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811274985) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811318985) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811358309) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811418379) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811425538) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811432258) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811620516) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811664290) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811767052) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811769060) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811773674) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811783488) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811787686) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811789744) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811840671) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457811949226) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812044537) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812067861) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812086886) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812167685) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812241872) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812251240) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812296464) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812317056) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812368747) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812418542) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812512031) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812518397) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812539243) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812556777) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812611342) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812685998) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812686217) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812694927) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812695105) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812789555) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812814417) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812826491) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812829363) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812886546) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812897288) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812933283) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812952115) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457812994160) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813009212) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813077419) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813134811) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813144330) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813173743) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813174337) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813185314) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813290703) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813294022) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813372389) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813412620) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813436329) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813441283) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813566724) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813585781) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813680899) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813727930) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813734139) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813756062) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813767888) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813782068) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813784985) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813793252) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813803176) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813822295) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813882147) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457813883887) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814002614) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814024139) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814063298) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814096144) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814182380) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814208108) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814214086) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814223387) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814255911) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814339746) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814348046) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814433476) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814462458) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814568005) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814583278) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814608832) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814619710) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814671905) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814725844) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814771871) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814777026) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814780739) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814877903) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814918738) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814937286) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814988003) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457814991419) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815101988) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815109894) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815124941) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815127868) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815139309) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815185636) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815185636) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815219517) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815290096) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815325388) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815343985) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815374108) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815388475) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815405473) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815458859) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815465139) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815540068) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815593587) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815620720) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815639674) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815666481) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815693611) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815709596) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815719044) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815779920) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815788322) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815831831) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815872813) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815906086) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815950950) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815989455) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457815997824) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816002160) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816026775) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816033875) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816110781) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816132245) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816132558) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816205468) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816224631) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816304654) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(121457816355804) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(7239442) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(7239443) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(7239461) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(7239462) as alone,
true as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
pg_try_advisory_xact_lock(7239463) as alone,
pg_try_advisory_xact_lock_shared(7239462) as shared,

set_config('tcp_keepalives_idle', '30', true),
set_config('tcp_keepalives_interval', '10', true),
set_config('tcp_keepalives_count', '3', true);

select
proof.release_id as "releaseId",
proof.root,
proof.header,
proof.grids,
place."coverageId",
place.grid,
place."column",
place."row",
place.width,
place.height,
part.hashes,
top.hashes as chunks
from release_proof as proof
left join lateral (
select
coverage.id as "coverageId",
(
select count(*)::integer from coverage as other
where other.release_id = coverage.release_id and other.id <= coverage.id
) as grid,
cell.pixel_column as "column",
cell.pixel_row as "row",
coverage.width,
coverage.height
from coverage
cross join lateral coverage_cell(coverage, $1::float8, $2::float8) as cell
where coverage.release_id = proof.release_id
) as place on true
left join proof_node as top on top.coverage_id = place."coverageId" and top.level = 1
left join proof_node as part on part.coverage_id = place."coverageId" and part.level = 0
and part.chunk = (
place."row" / 16 * ((place.width + 15) / 16)
+ place."column" / 16
) / 512
where proof.release_id = any($3::bigint[]) and proof.root is not null
order by place.grid;

select
release.id,
status,
tile_store as store,
to_char("deleted_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "deletedAt",
to_char("period"."published_from" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "publishedFrom",
to_char("period"."published_to" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "publishedTo"
from release
cross join lateral (
select
min(published_from) as published_from,
case when count(*) = count(published_to) then max(published_to) end as published_to
from release_period
where release_id = release.id
) as period
where code = $1;

select
relname as name,
array_agg(attname::text order by attnum) as columns,
coalesce(array_agg(attname::text order by attnum) filter (where attgenerated <> ''), '{}') as generated
from pg_class
join pg_attribute on attrelid = pg_class.oid
where relkind in ('r', 'p') and not exists (select from pg_inherits where inhrelid = pg_class.oid)
and relnamespace = current_schema()::regnamespace and not exists (
select from pg_depend
where classid = 'pg_class'::regclass and objid = "pg_class"."oid" and deptype = 'e'
)
and relname <> $1
and attnum > 0 and not attisdropped
group by relname
order by relname;

select
session.id as "sessionId",
session.user_id as "userId",
coalesce(token.expires_at <= now(), false) as expired,
extract(epoch from clock_timestamp() - token.used_at)::float8 as "usedSecondsAgo",
token.successor_salt as "successorSalt",
token.hash is not null as kept
from session
left join refresh_token as token on token.session_id = session.id and token.hash = $1
where session.id = $2 and session.ended_at is null and session.expires_at > now();

select
set_config('timezone', 'UTC', true),
set_config('datestyle', 'ISO, YMD', true),
set_config('intervalstyle', 'iso_8601', true),
set_config('extra_float_digits', '1', true),
set_config('bytea_output', 'hex', true);

select
st_xmin(extent) as west,
st_ymin(extent) as south,
st_xmax(extent) as east,
st_ymax(extent) as north
from (
select st_extent(st_transform(st_setsrid(st_makepoint(x, y), $1::integer), 4326)) as extent
from unnest($2::float8[], $3::float8[]) as point (x, y)
) as outline;

select
summarised and summary_version = $1 as summarised,
block_row as row,
block_column as column,
bands
from coverage
left join tile_summary
on tile_summary.coverage_id = $2
and tile_summary.level = $3
and block_row between $4 and $5
and block_column between $6 and $7
where coverage.id = $8;

select
to_regclass('applied_script') is not null as found,
exists (
select from pg_class
where relname = 'applied_script' and relkind = 'r' and not has_schema_privilege(relnamespace, 'usage')
) as hidden;

select 
area.id, area.parent_id as "parentId", area.country_code as "countryCode", area.level, area.code, area.name, ordinal
from unnest(
$1::float8[],
$2::float8[]
) with ordinality as place (longitude, latitude, ordinal)
cross join lateral admin_areas_at(longitude, latitude) as area;

select "table", "right"
from unnest(
$1::text[],
$2::text[]
) as needed ("table", "right")
where not has_table_privilege("table", "right");

select 'index ' || indexrelid::regclass || ' is not valid' as name
from pg_index where not indisvalid and indrelid = any (array(select oid from pg_class where relnamespace = current_schema()::regnamespace))
union all
select 'trigger ' || tgname || ' of ' || tgrelid::regclass || ' is disabled'
from pg_trigger where tgenabled = 'D' and tgrelid = any (array(select oid from pg_class where relnamespace = current_schema()::regnamespace))
union all
select 'constraint ' || conname || ' of ' || conrelid::regclass || ' is not validated'
from pg_constraint where not convalidated and conrelid = any (array(select oid from pg_class where relnamespace = current_schema()::regnamespace))
order by name;

select (
select coalesce(json_object_agg(level, district), '{}')
from (
select distinct on (area.level)
area.level, json_build_object('code', area.code, 'name', area.name) as district
from admin_areas_at(place.longitude, place.latitude) as area
where area.country_code = $1 and area.level <= $2::integer
order by area.level, area.code
) as of_level
) as areas
from unnest($3::float8[], $4::float8[])
with ordinality as place (longitude, latitude, ordinal)
order by ordinal;

select (
select st_asgeojson(simplified, 6)
from admin_area
where admin_area.country_code = asked.country_code
and admin_area.code = asked.code
and admin_area.level = coalesce(asked.level, admin_area.level)
order by admin_area.level
limit 1
) as outline
from unnest(
$1::text[], $2::text[],
$3::integer[]
) with ordinality as asked (country_code, code, level, ordinal)
order by ordinal;

select * from advisory_history where user_id = $1 order by created_at;

select block_row as row, block_column as column, bands
from coverage
left join tile_summary
on coverage_id = coverage.id and level = $1
and block_row = any($2::integer[])
and block_column = any($3::integer[])
where coverage.id = $4 and summarised and summary_version = $5;

select ceil(extract(epoch from max(blocked_until) - now()))::integer as seconds
from auth_throttle
where subject = any($1::bytea[]) and blocked_until > now();

select claimed, reply, today, stopped, offer, last_code as "lastCode", latest
from claim_message($1, $2, $3, $4, $5);

select coalesce(srtext, '') as wkt, coalesce(proj4text, '') as proj
from spatial_ref_sys where srid = $1;

select coalesce(sum(bytes), 0)::float8 as bytes from history_size;

select code
from (
select
release.id,
code,
row_number() over (
partition by product, country_code, crop_code, forecast_period, synthetic order by version desc
) as place
from release
where status = 'ready' and not exists (select from publication where release_id = release.id)
) as unpublished
where place > $1::integer
and not exists (select from publication where previous_release_id = unpublished.id)
and not exists (
select from scheduled_publication where release_id = unpublished.id and refused_at is null
)
order by code;

select code as release, root
from release_proof
join release on release.id = release_id
where release_id = any($1::bigint[]) and root is not null
order by code;

select code from release
where id = published_release($1, $2, $3::text, null);

select count(*) as count, round(avg(rating), 2)::float8 as average
from advisory_feedback
where created_at >= $1::date::timestamp at time zone 'UTC'
and created_at < ($2::date + 1)::timestamp at time zone 'UTC' 
-- Rows of accounts that are gone are left until they are removed.
and not exists (select from account_removal where account_removal.user_id = advisory_feedback.user_id);

select count(*) as count, round(avg(rating), 2)::float8 as average
from advisory_feedback
where created_at >= $1::date::timestamp at time zone 'UTC'
and created_at < ($2::date + 1)::timestamp at time zone 'UTC' and user_id = $3
-- Rows of accounts that are gone are left until they are removed.
and not exists (select from account_removal where account_removal.user_id = advisory_feedback.user_id);

select coverage.id is not null as found, cell.pixel_row as row, cell.pixel_column as column
from unnest(
$1::bigint[],
$2::float8[],
$3::float8[]
) with ordinality as wanted (coverage_id, longitude, latitude, ordinal)
left join coverage on coverage.id = wanted.coverage_id
and exists (select from release where release.id = coverage.release_id and status = 'ready')
left join lateral coverage_cell(coverage, wanted.longitude, wanted.latitude) as cell on true
order by wanted.ordinal;

select coverage.id is not null as found, granule.name, granule.header_bytes as "headerBytes"
from unnest(
$1::bigint[],
$2::integer[],
$3::integer[]
) with ordinality as wanted (coverage_id, tile_row, tile_column, ordinal)
left join coverage on coverage.id = wanted.coverage_id
and exists (
select from release
where release.id = coverage.release_id and status = 'ready' and tile_store = 'files'
)
left join lateral (
select name, header_bytes from granule
where granule.coverage_id = coverage.id
and granule_row = wanted.tile_row * coverage.tile_size / 512
and granule_column = wanted.tile_column * coverage.tile_size / 512
offset 0
) as granule on true
order by wanted.ordinal;

select create_history_months(uuid_time(id))
from (select id from unnest($1::history_item[]) order by id desc limit 1) as latest;

select delete_history_items($1, $2, $3) as last;

select delete_old_audit_records($1::integer, $2::integer) as deleted;

select distinct name || '.tif' as name
from granule
where name = any($1::text[]);

select distinct on (right(granule.name, 16), granule.name)
granule.name, header_bytes as "headerBytes", granule.bytes::float8 as bytes
from granule
join coverage on coverage.id = coverage_id
join release on release.id = release_id
where status = 'ready' and tile_store = 'files'
order by right(granule.name, 16), granule.name
limit $1;

select exists (select from app_user) or exists (select from release) as used;

select extract(epoch from
min(greatest(due_at, coalesce(webhook_delivery.leased_until, due_at))) - clock_timestamp()
)::float8 * 1000 as ms
from webhook_delivery
join subscription on subscription.id = subscription_id
where done_at is null and disabled_at is null;

select extract(epoch from publish_at - clock_timestamp())::float8 * 1000 as ms
from scheduled_publication
where refused_at is null and release_id <> all($1)
order by publish_at
limit 1;

select field.id, field.name, properties, longitude, latitude, area_ha as "areaHa", shape
from field_collection as collection
join field on collection_id = collection.id
where user_id = $1 and collection.name = $2 and state = 'kept'
and field.id = $3;

select format('process %s (%s)', pid, concat_ws(
', ',
nullif(application_name, ''),
'role ' || usename,
'from ' || host(client_addr),
'in a transaction since ' || to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
)) as session
from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and 
application_name like 'agro-advisory%' and application_name not like $1
order by xact_start, pid
limit 20;

select format('process %s (%s)', pid, concat_ws(
', ',
nullif(application_name, ''),
'role ' || usename,
'from ' || host(client_addr),
'in a transaction since ' || to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
)) as session
from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and pid in (
select pg_locks.pid from pg_locks
join pg_class on pg_class.oid = relation
where relnamespace = current_schema()::regnamespace and granted
)
order by xact_start, pid
limit 20;

select from app_user
where email_key = $1 and (
exists (
select from session
where user_id = app_user.id and network = $2 and session.ended_at is null and session.expires_at > now()
)
or exists (
select from audit_record
where user_id = app_user.id and network = $3 and kind in ('login', 'password_reset')
and at > now() - make_interval(days => $4)
)
);

select from field_collection
where id = $1 and state = 'draft' and user_id in (select id from app_user)
for update;

select id from app_user where email = any($1::text[]);

select id from history_subject where country_code = $1;

select id from session
where id = coalesce(
(select session_id from refresh_token where hash = $1),
(select id from session where token_family = $2)
)
for no key update;

select id, answer
from message
where sender = $1 and code = $2
order by arrived_at desc
limit 1;

select id, place, longitude, latitude
from field
where collection_id = $1 and (place, id) > ($2::bigint, $3)
order by place, id
limit $4;

select id::text as id, checksum
from answer_template
where id in (select template_id from history_item where user_id = $1);

select input, scenario, condition, role, unit, valid_count as "validCount", minimum, maximum, mean, width, height
from (
select ordinal, coverage_id, input, scenario, condition, null as role, unit, valid_count, minimum, maximum, mean
from layer
where release_id = $1
union all
select ordinal, coverage_id, input, scenario, condition, role, unit, valid_count, minimum, maximum, mean
from companion
where release_id = $2
) as band
join coverage on coverage.id = coverage_id
order by ordinal;

select level || ' ' || encode(key, 'hex') as key
from skill_counted
where release_id = $1;

select nearest.*, ordinal
from unnest(
$1::float8[],
$2::float8[]
) with ordinality as asked (longitude, latitude, ordinal)
cross join lateral (
select st_setsrid(st_makepoint(longitude, latitude), 4326) as point
offset 0
) as place
cross join lateral (
select
country.code as country_code,
country.name as country,
st_distance(st_boundary(piece.geom)::geography, place.point::geography) / 1000 as distance_km
from (
select admin_area_id, geom from admin_area_piece
order by geom <-> place.point
limit 20
) as piece
join admin_area as area on area.id = piece.admin_area_id
join country on country.code = area.country_code
order by distance_km, country.code
limit 1
) as nearest;

select pg_proc.oid::regprocedure::text as signature
from pg_proc
where pronamespace = current_schema()::regnamespace and not exists (
select from pg_depend
where classid = 'pg_proc'::regclass and objid = "pg_proc"."oid" and deptype = 'e'
);

select product, country_code, crop_code, advisories from user_usage where user_id = $1
order by product;

select proj4text like '%+proj=longlat%' as geographic from spatial_ref_sys where srid = $1;

select release_id as id, sum(bytes)::float8 as bytes
from (
select coverage_id, pg_column_size(rast) as bytes from raster_tile
union all
select coverage_id, bytes from granule
) as stored
join coverage on coverage.id = coverage_id

group by release_id;

select release_id as id, sum(bytes)::float8 as bytes
from (
select coverage_id, pg_column_size(rast) as bytes from raster_tile
union all
select coverage_id, bytes from granule
) as stored
join coverage on coverage.id = coverage_id
where release_id = $1
group by release_id;

select relname as "table", conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
from pg_constraint
join pg_class on pg_class.oid = conrelid
where contype = 'f' and conparentid = 0 and relnamespace = current_schema()::regnamespace
and not exists (
select from pg_depend
where classid = 'pg_class'::regclass and objid = "pg_class"."oid" and deptype = 'e'
)
order by relname, conname;

select relname as name
from pg_class
where relkind in ('r', 'p', 'v') and not exists (select from pg_inherits where inhrelid = pg_class.oid)
and relnamespace = current_schema()::regnamespace and not exists (
select from pg_depend
where classid = 'pg_class'::regclass and objid = "pg_class"."oid" and deptype = 'e'
)
order by relname;

select relname as name from pg_class
where relkind = 'S' and relnamespace = current_schema()::regnamespace and not exists (
select from pg_depend
where classid = 'pg_class'::regclass and objid = "pg_class"."oid" and deptype = 'e'
)
order by relname;

select relname as name from pg_class
where relkind in ('r', 'v') and relnamespace = 'public'::regnamespace
and relname not in ('applied_script', 'spatial_ref_sys')
and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e');

select source, licence, checksum, pixels
from release
cross join lateral (
select coalesce(
json_agg(
json_build_object(
'coverageId', id, 'srid', srid, 'column', pixel_column, 'row', pixel_row,
'centre', json_build_object('x', x, 'y', y, 'lng', st_x(centre), 'lat', st_y(centre)),
'size', json_build_object('x', pixel_width, 'y', abs(pixel_height), 'unit', unit)
) order by id
),
'[]'
) as pixels
from (
select
place.*,
case
when place.srid = 4326 then st_makepoint(x, y)
else st_transform(st_setsrid(st_makepoint(x, y), place.srid), 4326)
end as centre
from (
select
coverage.id,
coverage.srid,
coverage.pixel_width,
coverage.pixel_height,
coalesce(
substring(crs.srtext from '.*UNIT."([^"]+)"'),
case when crs.proj4text like '%+units=m %' then 'metre' when crs.proj4text like '+proj=longlat%' then 'degree' end,
'unknown'
) as unit,
cell.pixel_column,
cell.pixel_row,
origin_x + (cell.pixel_column + 0.5::float8) * pixel_width as x,
origin_y + (cell.pixel_row + 0.5::float8) * pixel_height as y
from coverage
cross join lateral coverage_cell(coverage, $1::float8, $2::float8) as cell
left join spatial_ref_sys as crs on crs.srid = coverage.srid
where coverage.release_id = release.id
) as place
) as located
) as pixels
where release.id = $3 and status = 'ready';

select split_part(signature, '(', 1) as name from unnest($1::text[]) as needed (signature)
where not has_function_privilege(signature, 'execute');

select srid from spatial_ref_sys
where coalesce(srtext, '') = $1 and coalesce(proj4text, '') = $2
order by srid
limit 1;

select srid from spatial_ref_sys
where upper(auth_name) in ('EPSG', 'ESRI') and auth_srid = $1
order by upper(auth_name)
limit 1;

select srid, coalesce(srtext, '') as wkt, coalesce(proj4text, '') as proj
from spatial_ref_sys
where srid in (select srid from coverage) and upper(coalesce(auth_name, '')) not in ('EPSG', 'ESRI')
order by srid;

select st_asbinary(
st_transform(st_segmentize(st_geomfromwkb($1::bytea, 4326), $2::float8), $3::integer), 'NDR'
) as wkb;

select st_asbinary(geom, 'NDR') as shape
from admin_area
where country_code = $1 and level = $2 and code = $3;

select st_asbinary(geom, 'NDR') as wkb
from admin_area
join boundary_set using (country_code, level)
where admin_area.id = $1 and boundary_set.loaded_at = $2::timestamptz;

select st_transform(st_makepoint(0, 0), '+proj=longlat +datum=WGS84', $1::text);

select st_x(place) as x, st_y(place) as y
from unnest($1::float8[], $2::float8[])
with ordinality as requested (x, y, number)
cross join lateral st_transform(
st_setsrid(st_makepoint(requested.x, requested.y), $3::integer), $4::integer
) as place
order by number;

select status, code, sum(requests)::bigint as requests
from request_count
where day between $1::date and $2::date and status >= 400
group by status, code
order by requests desc, status, code collate "C";

select template_id::text as "templateId", subject_id as "subjectId"
from answer_template_of(
$1, $2, $3, $4, $5::text[], $6::text[]
);

select tile_row as row, tile_column as column, rast::bytea as wkb
from raster_tile
where coverage_id = $1 and (tile_row, tile_column) > ($2, $3)
order by tile_row, tile_column
limit $4;

select tile_row as row, tile_column as column, rast::bytea as wkb
from raster_tile where coverage_id = $1;

select tile_row, tile_column, rast::bytea as wkb
from raster_tile
join coverage on coverage.id = raster_tile.coverage_id
join release on release.id = coverage.release_id
where release.code = $1
order by tile_row, tile_column;

select to_jsonb(applied_script) as script from applied_script;

select waiting.id, waiting.email_key as "emailKey", waiting.password_hash as "passwordHash"
from pending_registration as own
join pending_registration as waiting on waiting.email_key = own.email_key
and lower(waiting.email) = lower(own.email)
and waiting.expires_at > now()
where own.token_hash = $1 and own.expires_at > now()
order by waiting.id = own.id desc, waiting.created_at desc
limit $2;

update api_key set last_used_at = now()
where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute');

update field_collection set state = 'gone', changed_at = '-infinity'
where id = $1 and state = 'draft';

update message
set
stopped = id = $1, reply = case when id <> $2 then '' end, offer = null, code = null, releases = null,
answer = null, rating = null, observed = null, told_at = null
where sender = $3;

update message set offer = null
where id in (
select id from message
where offer is not null and arrived_at < now() - interval '10 minutes'
limit $1::integer
);

update release_proof set leased_until = now()
where release_id = $1 and root is null;

update subscription
set
previous_secret = secret,
previous_until = now() + make_interval(hours => $1::integer),
secret = $2
where user_id = $3 and id = $4
returning 1;

update subscription set leased_until = now() + make_interval(secs => $1::float8) where id = $2;

update webhook_delivery
set done_at = null, delivered = null, due_at = now(), created_at = now(), attempts = 0
where not delivered and id = (
select id from webhook_delivery where subscription_id = $1 order by created_at desc, id limit 1
);

update webhook_delivery
set done_at = null, delivered = null, leased_until = now() - interval '1 second', attempts = 1;

update webhook_delivery set leased_until = null, attempts = attempts - 1
where id = $1 and attempts = $2 and done_at is null;

with account as (
select id, email from app_user
where email_key = $1 and ($2 <> 'email_confirmation' or not email_confirmed)
), kept as (
insert into account_token (hash, user_id, purpose, expires_at)
select $3, id, $4, now() + make_interval(secs => $5::float8) from account
on conflict (user_id, purpose) do update set hash = excluded.hash, expires_at = excluded.expires_at
)
select id, email from account;

with answering as materialized (
select
product, country_code, crop_code, forecast_period,
(
select code from release
-- Without its name, these would be the columns of the release.
where id = published_release(
series.product, series.country_code, series.crop_code, series.forecast_period
)
) as release
from (
select distinct product, country_code, crop_code, forecast_period
from subscription
where disabled_at is null
) as series
),
changed as (
select subscription.id, answering.release
from answering
join subscription on subscription.product = answering.product
and subscription.country_code = answering.country_code
and subscription.crop_code is not distinct from answering.crop_code
and subscription.forecast_period is not distinct from answering.forecast_period
where subscription.disabled_at is null
and subscription.release is distinct from answering.release
and (leased_until is null or leased_until < now())
and (place ->> 'type' = 'fields') = $1::boolean
order by
leased_until nulls first,
-- No account waits for all of another one, be it within a claim or from claim to claim.
row_number() over (partition by user_id order by subscription.id),
random()
limit $2::integer
),
-- In one order, so that no two claims wait for each other.
claimed as (
select id, changed.release
from changed
join subscription using (id)
where leased_until is null or leased_until < now()
order by id
for no key update of subscription
)
update subscription
set leased_until = now() + make_interval(mins => $3::integer)
from claimed
where subscription.id = claimed.id
returning
subscription.id,
user_id as "userId",
name,
json_build_object(
'product', product, 'countryCode', country_code, 'cropCode', crop_code, 'forecastPeriod', forecast_period
) as series,
place,
input,
scenario,
json_build_object('kind', threshold_kind, 'value', threshold) as threshold,
told as notified,
subscription.release as before,
claimed.release as after;

with area as (
select id, code || coalesce(' (' || nullif(name, code) || ')', '') as label, st_area(geom) as size
from admin_area
where country_code = $1 and level = $2
),
pair as (
select
one.admin_area_id as one_id, other.admin_area_id as other_id,
sum(st_area(st_intersection(one.geom, other.geom, 1e-9))) as shared
from admin_area_piece as one
join admin_area_piece as other
on geometry_overlaps(one.geom, other.geom) and one.admin_area_id <> other.admin_area_id
where one.admin_area_id in (select id from area) and other.admin_area_id in (select id from area)
group by one.admin_area_id, other.admin_area_id
)
select
smaller.label as smaller, larger.label as larger, shared / smaller.size as share,
shared / larger.size > $3 as twins
from pair
join area as smaller on smaller.id = one_id
join area as larger on larger.id = other_id
where (smaller.size, smaller.id) < (larger.size, larger.id) and shared / smaller.size > $4
order by round((shared / smaller.size)::numeric, 4) desc, smaller.label;

with boundaries as materialized (select boundaries_version() as version)
select 
area.id, area.parent_id as "parentId", area.country_code as "countryCode", area.level, area.code, area.name, st_asbinary(area.shape, 'NDR') as shape, ordinal, boundaries.version as boundaries
from boundaries
cross join unnest(
$1::float8[],
$2::float8[],
$3::float8[]
) with ordinality as cell (west, south, degrees, ordinal)
left join lateral admin_areas_in_cell(west, south, west + degrees, south + degrees) as area on true;

with child as (
select id, code, geom from "admin_area"
where parent_id is null and country_code = $1 and level = $2
),
best as (
select distinct on (child.id) child.id, parent.id as parent_id, parent.code as parent
from child
join admin_area as parent
on parent.country_code = $3 and parent.level = $4
and geometry_overlaps(parent.geom, child.geom)
cross join lateral (
select sum(
case
when st_covers("child"."geom", piece.geom) then st_area(piece.geom)
else st_area(st_intersection("child"."geom", piece.geom))
end
) as area
from admin_area_piece as piece
where piece.admin_area_id = "parent"."id" and geometry_overlaps(piece.geom, "child"."geom")) as overlap
where overlap.area > 0
order by child.id, overlap.area desc, parent.code
),
linked as (
update "admin_area" set parent_id = best.parent_id from best where "admin_area".id = best.id
)
select child.code as area, best.parent
from child
left join best on best.id = child.id
order by child.code;

with claimed as (
insert into release_proof (release_id, leased_until)
select id, now() + interval '10 minutes'
from release
where status = 'ready' and not exists (
select from release_proof
where release_id = release.id and (root is not null or leased_until > now())
)
order by not exists (select from publication where release_id = release.id), id
limit 1
on conflict (release_id) do update set leased_until = excluded.leased_until
where release_proof.root is null and release_proof.leased_until <= now()
returning release_id
)
select
id,
code,
tile_store as store,
(
select coalesce(json_agg(json_build_object('id', id, 'width', width, 'height', height) order by id), '[]')
from coverage
where release_id = release.id
) as grids
from release
join claimed on claimed.release_id = release.id;

with grouped as (
select
operation, day, bucket.place,
sum(bucket.requests)::bigint as requests,
coalesce(sum(bucket.requests) filter (where status >= 400), 0)::bigint as errors,
max(max_ms) as longest
from request_count, unnest(buckets) with ordinality as bucket (requests, place)
where day between $1::date and $2::date
group by grouping sets ((bucket.place), (operation, bucket.place), (day, bucket.place))
)
select
operation, day, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
max(longest) as longest, array_agg(requests::float8 order by place) as latencies
from grouped
group by operation, day
order by operation collate "C", day;

with item as (
select id, user_id
from advisory_history
where id = history_item_id($1) and user_id = (select id from app_user where id = $2)
), room as (
select count(*) < $3::integer as is_left from history_share where user_id = $4
), added as (
insert into history_share (history_id, user_id, token)
select item.id, item.user_id, $5 from item, room
where room.is_left or exists (select from history_share where history_id = item.id)
on conflict (history_id) do update set history_id = excluded.history_id
returning token, to_char("shared_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as shared_at
)
select token, shared_at from item left join added on true;

with item as materialized (
select id, bytes from oldest_history_items($1, $2)
),
excess as materialized (
select oldest.id
from (
select id, row_number() over oldest_first - 1 as items, sum(bytes) over oldest_first - bytes as bytes
from item
window oldest_first as (order by id)
) as oldest
join history_size as size on size.user_id = $3
-- It goes where what is left without the older ones is still too much.
where (
size.items - oldest.items > $4::bigint
or size.bytes - oldest.bytes > $5::bigint
)
-- The size may still have a month in it that is being dropped.
and not exists (select from history_item_going)
),
-- Found one by one: all items of the account would be read otherwise.
deleted as (
delete from history_item where user_id = $6 and id = any (array(select id from excess))
)
select count(*) as deleted from excess;

with living as (
select id from app_user where id = $1 and password_hash = $2 for no key update
)
insert into session (user_id, expires_at, network, user_agent)
select id, now() + make_interval(days => $3), $4, $5 from living
returning id;

with numbered as materialized (
select
id,
row_number() over newest_first as place,
sum(bytes) over newest_first - bytes as bytes_before,
lead(id) over newest_first is not null as more
from newest_history_items((select id from app_user where id = $1), array(select id from history_subject where country_code = $2), $3, $4, $5)
window newest_first as (order by id desc)
)
select 
item.id,
to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
item.kind, item.product, item.country_code, item.crop_code, item.releases,
(
select coalesce(json_object_agg(release.code, release.synthetic), '{}')
from release
where release.code = any(item.releases)
) as synthetic_by_release,
item.request, item.answer,
case when feedback.history_id is not null then json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) end as feedback, more
from numbered
-- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
cross join lateral (
select * from advisory_history as one where one.id = numbered.id and one.user_id = $6 offset 0
) as item
left join advisory_feedback as feedback on feedback.history_id = item.id
where place <= $7 and bytes_before < $8
order by place;

with numbered as materialized (
select
id,
row_number() over newest_first as place,
sum(bytes) over newest_first - bytes as bytes_before,
lead(id) over newest_first is not null as more
from newest_history_items((select id from app_user where id = $1), array(select id from history_subject where kind = $2 and country_code = $3), $4, $5, $6)
window newest_first as (order by id desc)
)
select 
item.id,
to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
item.kind, item.product, item.country_code, item.crop_code, item.releases,
(
select coalesce(json_object_agg(release.code, release.synthetic), '{}')
from release
where release.code = any(item.releases)
) as synthetic_by_release,
item.request, item.answer,
case when feedback.history_id is not null then json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) end as feedback, more
from numbered
-- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
cross join lateral (
select * from advisory_history as one where one.id = numbered.id and one.user_id = $7 offset 0
) as item
left join advisory_feedback as feedback on feedback.history_id = item.id
where place <= $8 and bytes_before < $9
order by place;

with numbered as materialized (
select
id,
row_number() over newest_first as place,
sum(bytes) over newest_first - bytes as bytes_before,
lead(id) over newest_first is not null as more
from newest_history_items((select id from app_user where id = $1), array(select id from history_subject where kind = $2), $3, $4, $5)
window newest_first as (order by id desc)
)
select 
item.id,
to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
item.kind, item.product, item.country_code, item.crop_code, item.releases,
(
select coalesce(json_object_agg(release.code, release.synthetic), '{}')
from release
where release.code = any(item.releases)
) as synthetic_by_release,
item.request, item.answer,
case when feedback.history_id is not null then json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) end as feedback, more
from numbered
-- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
cross join lateral (
select * from advisory_history as one where one.id = numbered.id and one.user_id = $6 offset 0
) as item
left join advisory_feedback as feedback on feedback.history_id = item.id
where place <= $7 and bytes_before < $8
order by place;

with numbered as materialized (
select
id,
row_number() over newest_first as place,
sum(bytes) over newest_first - bytes as bytes_before,
lead(id) over newest_first is not null as more
from newest_history_items((select id from app_user where id = $1), array(select id from history_subject where product = $2 and country_code = $3), $4, $5, $6)
window newest_first as (order by id desc)
)
select 
item.id,
to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
item.kind, item.product, item.country_code, item.crop_code, item.releases,
(
select coalesce(json_object_agg(release.code, release.synthetic), '{}')
from release
where release.code = any(item.releases)
) as synthetic_by_release,
item.request, item.answer,
case when feedback.history_id is not null then json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) end as feedback, more
from numbered
-- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
cross join lateral (
select * from advisory_history as one where one.id = numbered.id and one.user_id = $7 offset 0
) as item
left join advisory_feedback as feedback on feedback.history_id = item.id
where place <= $8 and bytes_before < $9
order by place;

with numbered as materialized (
select
id,
row_number() over newest_first as place,
sum(bytes) over newest_first - bytes as bytes_before,
lead(id) over newest_first is not null as more
from newest_history_items((select id from app_user where id = $1), array(select id from history_subject where product = $2 and kind = $3 and country_code = $4), $5, $6, $7)
window newest_first as (order by id desc)
)
select 
item.id,
to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
item.kind, item.product, item.country_code, item.crop_code, item.releases,
(
select coalesce(json_object_agg(release.code, release.synthetic), '{}')
from release
where release.code = any(item.releases)
) as synthetic_by_release,
item.request, item.answer,
case when feedback.history_id is not null then json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) end as feedback, more
from numbered
-- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
cross join lateral (
select * from advisory_history as one where one.id = numbered.id and one.user_id = $8 offset 0
) as item
left join advisory_feedback as feedback on feedback.history_id = item.id
where place <= $9 and bytes_before < $10
order by place;

with numbered as materialized (
select
id,
row_number() over newest_first as place,
sum(bytes) over newest_first - bytes as bytes_before,
lead(id) over newest_first is not null as more
from newest_history_items((select id from app_user where id = $1), array(select id from history_subject where product = $2 and kind = $3), $4, $5, $6)
window newest_first as (order by id desc)
)
select 
item.id,
to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
item.kind, item.product, item.country_code, item.crop_code, item.releases,
(
select coalesce(json_object_agg(release.code, release.synthetic), '{}')
from release
where release.code = any(item.releases)
) as synthetic_by_release,
item.request, item.answer,
case when feedback.history_id is not null then json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) end as feedback, more
from numbered
-- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
cross join lateral (
select * from advisory_history as one where one.id = numbered.id and one.user_id = $7 offset 0
) as item
left join advisory_feedback as feedback on feedback.history_id = item.id
where place <= $8 and bytes_before < $9
order by place;

with numbered as materialized (
select
id,
row_number() over newest_first as place,
sum(bytes) over newest_first - bytes as bytes_before,
lead(id) over newest_first is not null as more
from newest_history_items((select id from app_user where id = $1), array(select id from history_subject where product = $2), $3, $4, $5)
window newest_first as (order by id desc)
)
select 
item.id,
to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
item.kind, item.product, item.country_code, item.crop_code, item.releases,
(
select coalesce(json_object_agg(release.code, release.synthetic), '{}')
from release
where release.code = any(item.releases)
) as synthetic_by_release,
item.request, item.answer,
case when feedback.history_id is not null then json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) end as feedback, more
from numbered
-- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
cross join lateral (
select * from advisory_history as one where one.id = numbered.id and one.user_id = $6 offset 0
) as item
left join advisory_feedback as feedback on feedback.history_id = item.id
where place <= $7 and bytes_before < $8
order by place;

with numbered as materialized (
select
id,
row_number() over newest_first as place,
sum(bytes) over newest_first - bytes as bytes_before,
lead(id) over newest_first is not null as more
from newest_history_items((select id from app_user where id = $1), null, $2, $3, $4)
window newest_first as (order by id desc)
)
select 
item.id,
to_char("item"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
item.kind, item.product, item.country_code, item.crop_code, item.releases,
(
select coalesce(json_object_agg(release.code, release.synthetic), '{}')
from release
where release.code = any(item.releases)
) as synthetic_by_release,
item.request, item.answer,
case when feedback.history_id is not null then json_build_object(
'rating', feedback.rating,
'comment', feedback.comment,
'observed', nullif(
coalesce(feedback.observed, '{}')
|| jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
'{}'
),
'created_at', to_char("feedback"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
'updated_at', to_char("feedback"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) end as feedback, more
from numbered
-- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
cross join lateral (
select * from advisory_history as one where one.id = numbered.id and one.user_id = $5 offset 0
) as item
left join advisory_feedback as feedback on feedback.history_id = item.id
where place <= $6 and bytes_before < $7
order by place;

with oldest_kept as materialized (select (date_trunc('month', least(now(), $1::timestamptz) at time zone 'UTC') - make_interval(months => $2::integer)) at time zone 'UTC' as begins)
select
user_id as "userId",
exists (
select from history_item as item
where item.user_id = account.user_id and id < uuid_at(begins)
) as "hasOld"
from oldest_kept
cross join lateral (
select user_id from history_size where user_id >= $3 order by user_id limit $4
) as account
order by user_id;

with page as (
select *, sum(bytes) over (order by place, id) - bytes as bytes_before
from (
select *, octet_length(shape) + coalesce(octet_length(properties), 0) as bytes
from field
where collection_id = $1 and (place, id) > ($2::bigint, $3)
order by place, id
limit $4
) as field
)
select id, place, name, properties, longitude, latitude, area_ha as "areaHa", shape
from page
where bytes_before < $5
order by page.place, id;

with piece as materialized (
select item.*
from history_removal as removal
cross join lateral (
select user_id, id, bytes from history_item_going
where (user_id, id) > (removal.user_id, removal.id)
order by user_id, id
limit $1
) as item
),
-- In one order everywhere, so that two processes never wait for each other.
locked as materialized (
select user_id from history_size
where user_id in (select user_id from piece)
order by user_id
for update
),
counted as (
update history_size as size
set items = size.items - gone.items, bytes = size.bytes - gone.bytes
from (select user_id, count(*) as items, sum(bytes) as bytes from piece group by user_id) as gone
where size.user_id = gone.user_id and size.user_id in (select user_id from locked)
),
-- Found one by one: all feedback there is would be read for each piece otherwise.
unrated as (
delete from advisory_feedback
where history_id = any (array(select id from piece)) and (history_id, user_id) in (select id, user_id from piece)
),
-- They would count towards what an account may share.
unshared as (
delete from history_share where history_id = any (array(select id from piece))
),
moved as (
update history_removal as removal set user_id = last.user_id, id = last.id
from (select user_id, id from piece order by user_id desc, id desc limit 1) as last
)
select count(*) as items from piece;

with place as (
select st_setsrid(st_makepoint(
$1::float8 + $2::float8 * (place_column + 0.5),
$3::float8 + $4::float8 * (place_row + 0.5)
), 4326) as point
from generate_series(0, $5::integer) as place_column
cross join generate_series(0, $6::integer) as place_row
), outline as (
select id from admin_area where country_code = $7 and level = 0
), transformed as (
select case
when st_x(point) between $8::float8 and $9::float8
and st_y(point) between $10::float8 and $11::float8
then st_transform(point, $12::integer)
end as point
from place
where not exists (select from outline) or exists (
select from admin_area_piece as piece
join outline on outline.id = piece.admin_area_id
where st_covers(piece.geom, place.point)
)
)
select st_x(point) as x, st_y(point) as y from transformed;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and id in (
select admin_area_id from admin_area_piece as piece where st_intersects(piece.geom, st_setsrid(st_envelope(st_makeline(
st_makepoint($13::float8, $14::float8), st_makepoint($15::float8, $16::float8)
)), 4326))
)
order by level, code
limit $17
),
cut as (
select id, level, code, positions from matching order by level, code offset $18 limit $19
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, area.level as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
st_asgeojson(area.geom, $20::integer, 0) as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select area.geom offset 0) as simple
where $21 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and id in (
select admin_area_id from admin_area_piece as piece where st_intersects(piece.geom, st_setsrid(st_envelope(st_makeline(
st_makepoint($13::float8, $14::float8), st_makepoint($15::float8, $16::float8)
)), 4326)) or st_intersects(piece.geom, st_setsrid(st_envelope(st_makeline(
st_makepoint($17::float8, $18::float8), st_makepoint($19::float8, $20::float8)
)), 4326))
)
order by level, code
limit $21
),
cut as (
select id, level, code, positions from matching order by level, code offset $22 limit $23
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, area.level as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
st_asgeojson(area.geom, $24::integer, 0) as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select area.geom offset 0) as simple
where $25 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and true
order by level, code
limit $13
),
cut as (
select id, level, code, positions from matching order by level, code offset $14 limit $15
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, (
select min(same.level) from admin_area as same
where same.country_code = $16 and same.level = any($17::integer[])
and same.code = area.code
) as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
null as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select area.geom offset 0) as simple
where $18 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and true
order by level, code
limit $13
),
cut as (
select id, level, code, positions from matching order by level, code offset $14 limit $15
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, (
select min(same.level) from admin_area as same
where same.country_code = $16 and same.level = any($17::integer[])
and same.code = area.code
) as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
st_asgeojson(case when st_isvalid(simple.geom) then simple.geom else area.geom end, $18::integer, 0) as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select st_multi(st_simplifypreservetopology(area.geom, $19::float8)) as geom offset 0) as simple
where $20 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and true
order by level, code
limit $13
),
cut as (
select id, level, code, positions from matching order by level, code offset $14 limit $15
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, area.level as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
null as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select area.geom offset 0) as simple
where $16 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and true
order by level, code
limit $13
),
cut as (
select id, level, code, positions from matching order by level, code offset $14 limit $15
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, area.level as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
st_asgeojson(area.geom, $16::integer, 0) as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select area.geom offset 0) as simple
where $17 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and true
order by level, code
limit $13
),
cut as (
select id, level, code, positions from matching order by level, code offset $14 limit $15
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, area.level as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
st_asgeojson(area.simplified, 6) as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select area.geom offset 0) as simple
where $16 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and true
order by level, code
limit $13
),
cut as (
select id, level, code, positions from matching order by level, code offset $14 limit $15
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, area.level as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
st_asgeojson(case when st_isvalid(simple.geom) then simple.geom else area.geom end, $16::integer, 0) as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select st_multi(st_simplifypreservetopology(area.geom, $17::float8)) as geom offset 0) as simple
where $18 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and true
order by level, code
limit $13
),
cut as (
select id, level, code, positions from matching order by level, code offset $14 limit $15
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, area.level as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
st_asgeojson(st_flipcoordinates(area.geom), $16::integer, 0) as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select area.geom offset 0) as simple
where $17 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text
and ($3::integer is null or level = $4)
and level < any($5::integer[])
union
select area.id, area.level from within join admin_area as area on area.parent_id = within.id
),
matching as materialized (
select id, level, code, positions
from admin_area
where country_code = $6 and level = any($7::integer[])
and ($8::text is null or code = $9)
and ($10::text is null or id in (select id from within))
and ($11::text is null or code > $12)
and true
order by level, code
limit $13
),
cut as (
select id, level, code, positions from matching order by level, code offset $14 limit $15
),
page as (
select id, sum(positions) over (order by level, code) - positions as positions_before from cut
),
line as (
select area.id, area.parent_id from page join admin_area as area using (id)
union all
select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
),
above as (
select
line.id,
json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
from line
join admin_area as up on up.id = line.parent_id
group by line.id
)
select boundaries_version() as boundaries, total.matched, area.*
from (select count(*)::integer as matched from matching) as total
left join (
select
area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
coalesce(above.parents, '[]'::json) as parents, area.level as "firstLevel",
area.centroid_lng as longitude, area.centroid_lat as latitude,
json_build_array(area.west, area.south, area.east, area.north) as extent,
st_asgeojson(st_transform(area.geom, 3857), $16::integer, 0) as shape
from page
join admin_area as area using (id)
join boundary_set using (country_code, level)
left join above using (id)
cross join lateral (select area.geom offset 0) as simple
where $17 or positions_before < 100000
) as area on true
order by area.level, area.code;

with recursive within as (
select id, level from admin_area
where country_code = $1 and code = $2::text and level < $3
union
select area.id, area.level
from within
join admin_area as area on area.parent_id = within.id
where area.level <= $4
)
select
area.id,
area.level,
area.code,
area.name,
area.country_code as "countryCode",
boundary_set.loaded_at::text as version,
(
select statistics from area_result
where area_result.release_id = $5::bigint
and admin_area_id = area.id
and boundaries_loaded_at = boundary_set.loaded_at
and statistics_version = $6
) as statistics
from admin_area as area
join boundary_set using (country_code, level)
where area.country_code = $7
and ($8::integer is null or area.level = $9)
and ($10 or area.code = any($11::text[]))
and ($12::text is null or area.id in (select id from within))
and ($13::text is null or area.code > $14)
order by area.level, area.code
limit $15;

with seat as materialized (
select code, st_setsrid(st_makepoint(longitude, latitude), 4326) as point
from unnest(
$1::text[],
$2::float8[],
$3::float8[]
) as seat (code, longitude, latitude)
),
outline as materialized (
select geom from admin_area where country_code = $4 and level = 0
),
cell as materialized (
select (
st_dump(
st_voronoipolygons(
(select st_collect(point) from seat),
0,
st_expand(st_envelope(outline.geom), 1)
)
)
).geom as geom
from outline
),
area as (
select
level,
array_to_string((string_to_array(seat.code, '-'))[1 : level + 1], '-') as code,
st_union(cell.geom) as geom
from cell
join seat on st_intersects(cell.geom, seat.point)
cross join unnest($5::integer[]) as level
group by 1, 2
)
select
area.level,
area.code,
st_asbinary(st_multi(st_collectionextract(st_intersection(area.geom, outline.geom), 3))) as wkb
from area, outline
order by area.code;

with summed as materialized (
select product, country_code, crop_code, day, sum(advisories) as advisories
from (
select product, country_code, crop_code, day, advisories from usage_of_all
union all
select product, country_code, crop_code, day, -advisories from user_usage
where user_id in (select user_id from account_removal)) as usage
where day between $1::date and $2::date
group by product, country_code, crop_code, day
having sum(advisories) > 0
)
select
case grouping(product, country_code, crop_code, day)
when 7 then 'product' when 11 then 'country' when 13 then 'crop' when 14 then 'day' else 'total'
end as grouping,
product, country_code, crop_code, day, coalesce(sum(advisories), 0)::bigint as advisories
from summed
group by grouping sets ((), (product), (country_code), (crop_code), (day))
order by product collate "C", country_code collate "C", crop_code collate "C", day;

with summed as materialized (
select product, country_code, crop_code, day, sum(advisories) as advisories
from (select * from user_usage where user_id = (select id from app_user where id = $1)) as usage
where day between $2::date and $3::date
group by product, country_code, crop_code, day
having sum(advisories) > 0
)
select
case grouping(product, country_code, crop_code, day)
when 7 then 'product' when 11 then 'country' when 13 then 'crop' when 14 then 'day' else 'total'
end as grouping,
product, country_code, crop_code, day, coalesce(sum(advisories), 0)::bigint as advisories
from summed
group by grouping sets ((), (product), (country_code), (crop_code), (day))
order by product collate "C", country_code collate "C", crop_code collate "C", day;

with told as (
select
item.answer, feedback.user_id::text as observer, feedback.observed, feedback.created_at as told_at,
false as by_message,
sha256(feedback.history_id::text::bytea) as key,
feedback.updated_at < date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' and app_user.email_confirmed
and app_user.created_at < date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '1 month' as is_settled
from advisory_feedback as feedback
join app_user on app_user.id = feedback.user_id
join advisory_history as item on item.id = feedback.history_id and item.user_id = feedback.user_id
where feedback.observed ->> $1 is not null and $2 = any(item.releases)
union all
select
answer, encode(sender, 'hex'), observed, told_at, true,
sha256(
sender || concat_ws(' ', answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng')::bytea
),
told_at < date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'
from (
select *
from (
select *, row_number() over (partition by sender order by told_at desc) as ordinal
from (
select distinct on (sender, answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng') *
from message
where releases @> array[$3::text] and told_at is not null and observed ->> $4 is not null
order by sender, answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng', told_at desc
) as of_places
) as of_senders
where ordinal <= 5
) as of_messages
),
in_turn as (
select *, row_number() over (partition by observer order by told_at desc) as turn
from told
where is_settled and 2 > (select count(*) from skill_counted where release_id = $5 and skill_counted.key = told.key)
order by by_message, turn, told_at desc
limit 50000
)
select
(answer -> 'location' ->> 'lat')::float8 as lat,
(answer -> 'location' ->> 'lng')::float8 as lng,
(observed ->> $6)::float8 as observed,
observer,
by_message as "byMessage",
encode(key, 'hex') as key,
(
select coalesce(
json_agg(json_build_object(
'scenario', entry ->> 'scenario', 'predicted', (entry ->> $7)::float8,
'probability', (entry ->> 'probability')::float8, 'range', entry -> 'range',
'condition', entry ->> 'condition'
)),
'[]'
)
from json_array_elements(
case json_typeof(coalesce(answer -> $8 -> $9, answer -> $10))
when 'array' then coalesce(answer -> $11 -> $12, answer -> $13)
else '[]'
end
) as entry
where entry ->> $14 is not null
) as predictions
from in_turn
order by told_at desc;

with told as (
select
item.answer, feedback.user_id::text as observer, feedback.observed, feedback.created_at as told_at,
false as by_message,
sha256(feedback.history_id::text::bytea) as key,
feedback.updated_at < date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' and app_user.email_confirmed
and app_user.created_at < date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '1 month' as is_settled
from advisory_feedback as feedback
join app_user on app_user.id = feedback.user_id
join advisory_history as item on item.id = feedback.history_id and item.user_id = feedback.user_id
where feedback.observed ->> $1 is not null and $2 = any(item.releases)
union all
select
answer, encode(sender, 'hex'), observed, told_at, true,
sha256(
sender || concat_ws(' ', answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng')::bytea
),
told_at < date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'
from (
select *
from (
select *, row_number() over (partition by sender order by told_at desc) as ordinal
from (
select distinct on (sender, answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng') *
from message
where releases @> array[$3::text] and told_at is not null and observed ->> $4 is not null
order by sender, answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng', told_at desc
) as of_places
) as of_senders
where ordinal <= 5
) as of_messages
),
in_turn as (
select *, row_number() over (partition by observer order by told_at desc) as turn
from told
where true
order by by_message, turn, told_at desc
limit 50000
)
select
(answer -> 'location' ->> 'lat')::float8 as lat,
(answer -> 'location' ->> 'lng')::float8 as lng,
(observed ->> $5)::float8 as observed,
observer,
by_message as "byMessage",
encode(key, 'hex') as key,
(
select coalesce(
json_agg(json_build_object(
'scenario', entry ->> 'scenario', 'predicted', (entry ->> $6)::float8,
'probability', (entry ->> 'probability')::float8, 'range', entry -> 'range',
'condition', entry ->> 'condition'
)),
'[]'
)
from json_array_elements(
case json_typeof(coalesce(answer -> $7 -> $8, answer -> $9))
when 'array' then coalesce(answer -> $10 -> $11, answer -> $12)
else '[]'
end
) as entry
where entry ->> $13 is not null
) as predictions
from in_turn
order by told_at desc;

select
(select count(*)::integer from spatial_ref_sys) as known,
array(
select distinct srid from coverage
where not exists (select from spatial_ref_sys where spatial_ref_sys.srid = coverage.srid)
order by srid
) as missing;

select
current_setting('default_transaction_read_only')::boolean as "readOnly",
pg_is_in_recovery() as recovering;

select
current_setting('max_connections')::integer
- current_setting('superuser_reserved_connections')::integer as places,
json_agg(json_build_object('application', application, 'connections', connections)) as clients
from (
select coalesce(nullif(application_name, ''), 'without a name') as application, count(*) as connections
from pg_stat_activity
where datid is not null and coalesce(backend_type, 'client backend') = 'client backend'
group by 1
order by 2 desc, 1
) as client;

select clock_timestamp() as now, (select max(published_at) from publication) as published;

select code, found::integer, needed::integer
from (
select
release.code,
coverage.id,
least($1, ceil(max(layer.valid_count)::numeric / coverage.tile_size ^ 2)) as needed
from release
join coverage on coverage.release_id = release.id
join layer on layer.coverage_id = coverage.id
where release.status = 'ready' and release.tile_store = 'postgis'
group by release.code, coverage.id, coverage.tile_size
) as grid
cross join lateral (
select count(*) as found
from (select from raster_tile where coverage_id = grid.id limit $2) as tile
) as counted
where found < needed
order by code, grid.id;

select distinct spcname as name
from pg_class
join pg_database on datname = current_database()
join pg_tablespace on pg_tablespace.oid = coalesce(nullif(reltablespace, 0), dattablespace)
where relkind = 'r' and relnamespace = current_schema()::regnamespace
order by name;

select extname as name, extversion as installed from pg_extension where extname like 'postgis%' order by 1;

select recovering, case when recovering then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') end as position,
pg_postmaster_start_time()::text as server
from pg_is_in_recovery() as recovering;

select ssl, version from pg_stat_ssl where pid = pg_backend_pid();

select user_id as "userId", kept, items, bytes
from keep_history_items(
$1, $2, $3, $4, $5, $6, string_to_array($7, E'\x1e'), string_to_array($8, E'\x1e'), $9, $10
);

select version() as text, current_setting('server_version_num')::integer as number;

delete from "account_removal" where "user_id" = $1;

delete from "account_token" where "hash" = $1 and "purpose" = $2 and "expires_at" > now();

delete from "account_token" where "user_id" = $1 and "purpose" = $2;

delete from "api_key" where "user_id" = $1;

delete from "api_key" where "user_id" = $1 and "expires_at" < now();

delete from "api_key" where "user_id" = $1 and "id" = $2;

delete from "app_user" where "id" = $1;

delete from "area_result";

delete from "area_result" where "release_id" = $1;

delete from "auth_throttle";

delete from "auth_throttle" where "subject" in ($1);

delete from "companion" where "role" = $1;

delete from "country";

delete from "country" where "code" = $1;

delete from "country_alias";

delete from "country_alias" where "alias" in ($1);

delete from "country_alias" where "country_code" = $1;

delete from "country_alias" where country_code <> 'ken';

delete from "country_crop";

delete from "country_crop" where "country_code" = $1 and "crop_code" = $2;

delete from "country_crop" where country_code <> 'ken';

delete from "coverage" where "release_id" = $1;

delete from "crop";

delete from "crop" where "code" = $1;

delete from "crop_alias";

delete from "crop_alias" where "crop_code" = $1;

delete from "field_collection" where "id" = $1;

delete from "field_weights" where "collection_id" = $1;

delete from "granule" where "coverage_id" = $1;

delete from "history_item" where "user_id" = (select id from app_user where id = $1) and "id" = history_item_id($2);

delete from "history_removal";

delete from "history_share" where "history_id" = history_item_id($1) and "user_id" = (select id from app_user where id = $2);

delete from "history_size" where "user_id" = $1;

delete from "idempotency_record" where "id" = $1 and "attempt" = $2;

delete from "input_composition";

delete from "input_composition" where lower("name") = lower($1);

delete from "layer" where "condition" is null and "input" = $1;

delete from "message";

delete from "message" where "id" = $1 and "reply" is null;

delete from "pending_registration" where "email_key" = $1;

delete from "plausible_range";

delete from "plausible_range" where "product" = $1 and "crop_code" is not distinct from $2;

delete from "publication";

delete from "publication" where "release_id" = $1;

delete from "raster_tile" where "coverage_id" = $1;

delete from "raster_tile" where "tile_row" = $1;

delete from "recovery_code" where "user_id" = $1 and "hash" = $2;

delete from "release";

delete from "release" where "code" = $1;

delete from "release" where "id" = $1;

delete from "scheduled_publication" where "release_id" = $1;

delete from "signing_key";

delete from "skill" where "release_id" = $1;

delete from "skill_counted" where "release_id" = $1;

delete from "subscription" where "user_id" = $1 and "id" = $2;

delete from "tile_summary";

delete from "tile_summary" where "coverage_id" = $1;

delete from "two_factor" where "user_id" = $1;

delete from "user_usage" where "user_id" = $1;

delete from advisory_feedback;

delete from advisory_feedback where ctid in (select ctid from advisory_feedback limit 1);

delete from area_claim;

delete from area_claim where leased_until < now();

delete from auth_throttle where last_failure_at < now() - interval '1 day';

delete from history_item;

delete from history_item where id = $1;

delete from idempotency_record where begun_at < now() - interval '1 day';

delete from message;

delete from raster_tile where coverage_id = 1 and tile_row = 6 and tile_column = 6;

insert into "api_key" ("user_id", "name", "hint", "hash") values ($1, $2, $3, $4);

insert into "api_key" ("user_id", "name", "hint", "hash", "parent_id") values ($1, $2, $3, $4, $5) returning "id";

insert into "api_key" ("user_id", "name", "hint", "hash", "scopes", "expires_at") values ($1, $2, $3, $4, $5, now() + make_interval(days => $6::integer)) returning "id", "name", "hint", "scopes", "parent_id" as "made_by", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at", to_char("expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expires_at", to_char("last_used_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "last_used_at";

insert into "app_user" ("email", "email_key", "password_hash", "name", "organisation") values ($1, $2, $3, $4, $5) on conflict ("email_key") do nothing returning "id", "email", "name", "organisation", "role", "email_confirmed", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at";

insert into "companion" ("release_id", "ordinal", "coverage_id", "band", "input", "scenario", "condition", "unit", "scale", "offset", "decimals", "pixel_type", "valid_count", "minimum", "maximum", "mean", "role") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17);

insert into "country" ("code", "name") values ($1, $2);

insert into "country" ("code", "name", "west", "south", "east", "north") values ($1, $2, $3, $4, $5, $6);

insert into "country_alias" ("alias", "country_code") values ($1, $2), ($3, $4);

insert into "country_crop" ("country_code", "crop_code") values ($1, $2);

insert into "country_crop" ("country_code", "crop_code") values ($1, $2) on conflict do nothing;

insert into "coverage" ("release_id", "srid", "origin_x", "origin_y", "pixel_width", "pixel_height", "width", "height", "tile_size", "west", "south", "east", "north") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning "id";

insert into "crop" ("code", "name") values ($1, $2);

insert into "crop_alias" ("alias", "crop_code") values ($1, $2);

insert into "field_collection" ("user_id", "name") values ($1, $2) returning "id";

insert into "granule" ("coverage_id", "granule_row", "granule_column", "name", "header_bytes", "bytes") values ($1, $2, $3, $4, $5, $6) on conflict ("coverage_id", "granule_row", "granule_column") do update set "name" = $7, "header_bytes" = $8, "bytes" = $9;

insert into "input_composition" ("name", "n", "p2o5", "k2o", "s") values ($1, $2, $3, $4, $5);

insert into "layer" ("release_id", "ordinal", "coverage_id", "band", "input", "scenario", "condition", "unit", "scale", "offset", "decimals", "pixel_type", "valid_count", "minimum", "maximum", "mean", "probability", "range_from", "range_to") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19);

insert into "pending_registration" ("email", "email_key", "password_hash", "name", "organisation", "token_hash", "expires_at") values ($1, $2, $3, $4, $5, $6, now() + make_interval(hours => $7::integer)) returning "id", "email", "name", "organisation", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at";

insert into "plausible_range" ("product", "crop_code", "minimum", "maximum", "largest_from", "mean_to") values ($1, $2, $3, $4, $5, $6);

insert into "publication" ("product", "country_code", "crop_code", "forecast_period", "release_id", "previous_release_id", "published_at") values ($1, $2, $3, $4, $5, $6, $7), ($8, $9, $10, $11, $12, $13, $14), ($15, $16, $17, $18, $19, $20, $21), ($22, $23, $24, $25, $26, $27, $28), ($29, $30, $31, $32, $33, $34, $35), ($36, $37, $38, $39, $40, $41, $42), ($43, $44, $45, $46, $47, $48, $49), ($50, $51, $52, $53, $54, $55, $56), ($57, $58, $59, $60, $61, $62, $63), ($64, $65, $66, $67, $68, $69, $70);

insert into "recovery_code" ("user_id", "hash") values ($1, $2), ($3, $4), ($5, $6), ($7, $8), ($9, $10), ($11, $12), ($13, $14), ($15, $16), ($17, $18), ($19, $20);

insert into "release" ("code", "product", "country_code", "crop_code", "forecast_period", "version", "synthetic", "lossy", "source", "licence", "checksum", "valid_until", "conditions", "load_lock", "tile_store") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) returning "id", "code";

insert into "release" ("code", "product", "country_code", "crop_code", "forecast_period", "version", "synthetic", "source", "licence", "checksum", "status") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning "id";

insert into "release_proof" ("release_id", "root", "header", "grids") values ($1, $2, $3, $4) on conflict ("release_id") do update set "root" = $5, "header" = $6, "grids" = $7;

insert into "scheduled_publication" ("release_id", "publish_at", "scheduled_by", "allowed", "strict") values ($1, $2, $3, $4, $5);

insert into "signing_key" ("kid", "public_key") values ($1, $2) on conflict ("kid") do nothing returning "kid";

insert into "skill" ("release_id", "level", "area_code", "observers", "n", "sum_difference", "sum_absolute", "n_range", "n_within", "n_odds", "sum_brier", "sum_rps", "sum_rps_climatology") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict ("release_id", "level", "area_code") do update set "observers" = skill."observers" + excluded."observers", "n" = skill."n" + excluded."n", "sum_difference" = skill."sum_difference" + excluded."sum_difference", "sum_absolute" = skill."sum_absolute" + excluded."sum_absolute", "n_range" = skill."n_range" + excluded."n_range", "n_within" = skill."n_within" + excluded."n_within", "n_odds" = skill."n_odds" + excluded."n_odds", "sum_brier" = skill."sum_brier" + excluded."sum_brier", "sum_rps" = skill."sum_rps" + excluded."sum_rps", "sum_rps_climatology" = skill."sum_rps_climatology" + excluded."sum_rps_climatology", "kept_at" = now();

insert into "subscription" ("user_id", "name", "product", "country_code", "crop_code", "forecast_period", "place", "input", "scenario", "threshold_kind", "threshold", "url", "host", "secret", "release", "told") values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12, $13, $14, $15, $16::jsonb) returning "id", "name", "product", "country_code", "crop_code" as "crop", to_char(forecast_period, 'YYYY-MM') as "forecast_month", place as "place", "input", "scenario", json_build_object('kind', threshold_kind, 'value', threshold) as "threshold", "url", case when disabled_at is null then 'active' else 'disabled' end as "status", "disabled_reason", to_char("failing_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "failing_since", to_char("delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "delivered_at", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at", "release", told as "values";

insert into "webhook_delivery" ("id", "subscription_id", "body") values ($1, $2, $3);

insert into advisory_feedback (history_id, user_id, rating, comment, observed) values ($1, $2, 4, 'good', '{"yield_kg_ha": 3100.5}');

insert into app_user (id, email, email_key, password_hash, name) values ($1, $2, $2, $3, 'Amina Bekele');

insert into applied_script (kind, name, checksum) values ('migration', $1, $2);

insert into audit_record (kind, at) values ('login', now() - interval '2 years');

insert into audit_record (kind, at) values ('logout', now() - interval '11 months');

insert into history_share (history_id, user_id, token)
select gen_random_uuid(), $1, lpad(number::text, 24, '0') from generate_series(1, $2) as number;

insert into publication (product, country_code, crop_code, forecast_period, release_id)
select product, country_code, crop_code, forecast_period, id from release where code = $1;

insert into refresh_token (hash, session_id, expires_at) values ($1, $2, now() + interval '20 days');

insert into spatial_ref_sys (srid, srtext, proj4text) values ($1::integer, '', 'another');

select
count(*)::integer as fields,
coalesce(sum(octet_length(field.id) + 80), 0)::integer as bytes,
count(*) filter (where state = 'kept')::integer as kept,
(select sum(fields) from field_collection where user_id = $1)::integer as counted
from field join field_collection as collection on collection_id = collection.id
where user_id = $1;

select "alias", "crop_code" as "code" from "crop_alias" order by "alias";

select "answer" from "idempotency_record" where "id" = $1;

select "app_user"."id", "app_user"."email", "app_user"."name", "app_user"."organisation" from "account_token" inner join "app_user" on "app_user"."id" = "account_token"."user_id" where "account_token"."hash" = $1 and "account_token"."purpose" = $2 and "account_token"."expires_at" > now();

select "app_user"."id", "app_user"."role" from "session" inner join "app_user" on "app_user"."id" = "session"."user_id" where "session"."id" = $1 and session.ended_at is null and session.expires_at > now();

select "app_user"."id", "app_user"."role", "api_key"."id" as "keyId", "api_key"."scopes" from "api_key" inner join "app_user" on "app_user"."id" = "api_key"."user_id" where "api_key"."hash" = $1 and ("api_key"."expires_at" is null or "api_key"."expires_at" > now());

select "at", "kind", "operator", "detail" as "detail" from "audit_record" where "kind" in ($1, $2, $3, $4, $5, $6) and $7 in (detail ->> 'release', detail ->> 'replaced') order by "id";

select "audit_record"."id", to_char("audit_record"."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "user_id" as "userId", "app_user"."email", "session_id" as "sessionId", "key_id" as "keyId", "network", "request_id" as "requestId", "operator", "detail" from "audit_record" left join "app_user" on "app_user"."id" = "audit_record"."user_id" order by "audit_record"."id" desc limit $1;

select "audit_record"."id", to_char("audit_record"."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "user_id" as "userId", "app_user"."email", "session_id" as "sessionId", "key_id" as "keyId", "network", "request_id" as "requestId", "operator", "detail" from "audit_record" left join "app_user" on "app_user"."id" = "audit_record"."user_id" where "at" >= $1 order by "audit_record"."id" desc limit $2;

select "audit_record"."id", to_char("audit_record"."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "user_id" as "userId", "app_user"."email", "session_id" as "sessionId", "key_id" as "keyId", "network", "request_id" as "requestId", "operator", "detail" from "audit_record" left join "app_user" on "app_user"."id" = "audit_record"."user_id" where "audit_record"."id" < $1 order by "audit_record"."id" desc limit $2;

select "audit_record"."id", to_char("audit_record"."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "user_id" as "userId", "app_user"."email", "session_id" as "sessionId", "key_id" as "keyId", "network", "request_id" as "requestId", "operator", "detail" from "audit_record" left join "app_user" on "app_user"."id" = "audit_record"."user_id" where "kind" = $1 and "at" >= $2 order by "audit_record"."id" desc limit $3;

select "audit_record"."id", to_char("audit_record"."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "user_id" as "userId", "app_user"."email", "session_id" as "sessionId", "key_id" as "keyId", "network", "request_id" as "requestId", "operator", "detail" from "audit_record" left join "app_user" on "app_user"."id" = "audit_record"."user_id" where "kind" = $1 order by "audit_record"."id" desc limit $2;

select "audit_record"."id", to_char("audit_record"."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "user_id" as "userId", "app_user"."email", "session_id" as "sessionId", "key_id" as "keyId", "network", "request_id" as "requestId", "operator", "detail" from "audit_record" left join "app_user" on "app_user"."id" = "audit_record"."user_id" where "user_id" = $1 and "kind" = $2 order by "audit_record"."id" desc limit $3;

select "audit_record"."id", to_char("audit_record"."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "user_id" as "userId", "app_user"."email", "session_id" as "sessionId", "key_id" as "keyId", "network", "request_id" as "requestId", "operator", "detail" from "audit_record" left join "app_user" on "app_user"."id" = "audit_record"."user_id" where "user_id" = $1 order by "audit_record"."id" desc limit $2;

select "bytes" from "advisory_history" where "id" = $1;

select "checksum" from "release";

select "checksum" from "release" where "code" = $1;

select "code" from "country" limit $1;

select "code" from "country" order by "code";

select "code" from "release";

select "code" from "release" where "country_code" = $1 and "crop_code" = $2 and "status" <> $3 order by "code";

select "code", "input", "minimum", "maximum", "mean", "valid_count", "width", "height" from "layer" inner join "coverage" on "coverage"."id" = "layer"."coverage_id" inner join "release" on "release"."id" = "layer"."release_id";

select "code", "name" from "country" order by "ordinal", "code";

select "code", "name" from "crop" order by "code";

select "code", "published_at" from "release" left join "publication" on "publication"."release_id" = "release"."id" where "status" = $1 and ("published_at" is not null or "findings" is not null) and "checksum" = $2 and "synthetic" = $3 and "release"."product" = $4 and "release"."country_code" = $5 and "release"."crop_code" is not distinct from $6 and "release"."forecast_period" is not distinct from $7 order by "published_at" desc nulls last, "release"."id" desc;

select "code", "rating", "observed" from "message" where "told_at" is not null;

select "code", "stopped", "offer" from "message";

select "country_code" as "countryCode", "level", "checksum", "approximate", "source", "licence" from "boundary_set" where "country_code" = $1 and exists (select from "admin_area" where "admin_area"."country_code" = "boundary_set"."country_code" and "admin_area"."level" = "boundary_set"."level");

select "country_code" as "countryCode", "level", "source", "licence" from "boundary_set" order by "country_code", "level";

select "coverage"."id" from "coverage" inner join "release" on "release"."id" = "coverage"."release_id" where "release"."code" = $1;

select "crop_code" as "code" from "country_crop" where "country_code" = $1 order by "crop_code";

select "email", "password_hash" as "passwordHash" from "app_user" where "id" = $1;

select "grid", "weights" from "field_weights" where "collection_id" = $1 and "page" = $2 and "ids" = $3;

select "hash" from "refresh_token" where "hash" = $1 and "used_at" is not null;

select "id" from "admin_area" where "country_code" = $1 and "level" < $2 and "code" = $3 limit $4;

select "id" from "app_user" where "id" = $1 for update;

select "id" from "app_user" where "id" in ($1);

select "id" from "coverage" where "release_id" = $1;

select "id" from "pending_registration" where "email" = $1;

select "id" from "release";

select "id" from "release" where "id" = $1 and "status" = $2 for update;

select "id", "code", "load_lock", (
select pid
from pg_locks
where locktype = 'advisory' and granted and objsubid = 1
and classid::bigint = "load_lock" >> 32 and objid::bigint = "load_lock" & 4294967295
and database = (select oid from pg_database where datname = current_database())
limit 1
) as "loader" from "release" where "status" = $1 and "load_lock" is not null order by "code";

select "id", "email", "email_key" as "emailKey", (select coalesce(max(id), 0)::text from audit_record) as "lastRecord" from "app_user" where "email_key" = $1;

select "id", "email", "email_key" as "emailKey", array(select concat_ws(' ', id, extract(epoch from at)) from audit_record where user_id = app_user.id and kind = any ($1::text[])) as "changes", (select max(at) from audit_record) as "recordedUntil" from "app_user" where "email_key" = $2;

select "id", "email", "name", "organisation", "role", "email_confirmed", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at" from "app_user" order by "email_key";

select "id", "email", "name", "organisation", "role", "email_confirmed", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at" from "app_user" where "id" = $1;

select "id", "email", "password_hash" as "passwordHash", "email_confirmed" as "emailConfirmed" from "app_user" where "email_key" = $1;

select "id", "name" as "collection", "fields", "bytes", to_char("changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "changed_at" from "field_collection" where "user_id" = $1 and "state" = $2 and "name" = $3;

select "id", "name" as "collection", "fields", "bytes", to_char("changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "changed_at" from "field_collection" where "user_id" = $1 and "state" = $2 order by "name";

select "id", "name", "hint", "scopes", "parent_id" as "made_by", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at", to_char("expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expires_at", to_char("last_used_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "last_used_at", coalesce(
(
select json_agg(json_build_object('day', day, 'requests', requests) order by day)
from api_key_usage
where key_id = api_key.id and day > (now() at time zone 'UTC')::date - $1::integer
),
'[]'
) as "usage" from "api_key" where "user_id" = $2 order by "created_at" desc, "id";

select "id", "name", "product", "country_code", "crop_code" as "crop", to_char(forecast_period, 'YYYY-MM') as "forecast_month", place as "place", "input", "scenario", json_build_object('kind', threshold_kind, 'value', threshold) as "threshold", "url", case when disabled_at is null then 'active' else 'disabled' end as "status", "disabled_reason", to_char("failing_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "failing_since", to_char("delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "delivered_at", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at", "release", told as "values" from "subscription" where "user_id" = $1 and "id" = $2;

select "id", "name", "product", "country_code", "crop_code" as "crop", to_char(forecast_period, 'YYYY-MM') as "forecast_month", place as "place", "input", "scenario", json_build_object('kind', threshold_kind, 'value', threshold) as "threshold", "url", case when disabled_at is null then 'active' else 'disabled' end as "status", "disabled_reason", to_char("failing_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "failing_since", to_char("delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "delivered_at", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at", "release", told as "values" from "subscription" where "user_id" = $1 order by "created_at" desc, "id";

select "id", "name", "product", "country_code", "crop_code" as "crop", to_char(forecast_period, 'YYYY-MM') as "forecast_month", place as "place", "input", "scenario", json_build_object('kind', threshold_kind, 'value', threshold) as "threshold", "url", case when disabled_at is null then 'active' else 'disabled' end as "status", "disabled_reason", to_char("failing_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "failing_since", to_char("delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "delivered_at", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at", "release", told as "values", "secret", case when previous_until > now() then previous_secret end as "previousSecret" from "subscription" where "user_id" = $1 and "id" = $2;

select "id", "request" from "advisory_history" where "user_id" = $1;

select "id", "tile_store" from "release";

select "id", "user_id" as "userId", "secret", "previous_secret" as "previousSecret" from "subscription" order by "id" limit $1;

select "id", "width", "height", "tile_size" from "coverage" where "release_id" = $1;

select "id", to_char("at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "release", "replaced", "product", "country_code", "crop_code" as "crop", to_char(forecast_period, 'YYYY-MM') as "forecast_month", "synthetic", "level" from "change_entry" order by "id" desc limit $1;

select "id", to_char("at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at", "kind", "release", "replaced", "product", "country_code", "crop_code" as "crop", to_char(forecast_period, 'YYYY-MM') as "forecast_month", "synthetic", "level" from "change_entry" where "id" >= $1 order by "id" limit $2;

select "id", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at", to_char("last_used_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "last_used_at", to_char("expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expires_at", "network", "user_agent", id = $1 as "current" from "session" where "user_id" = $2 and session.ended_at is null and session.expires_at > now() order by "session"."last_used_at" desc, "id";

select "last_used_at" from "api_key" where "id" = $1;

select "level", "approximate" from "boundary_set" where "country_code" = $1 order by "level";

select "level", "checksum" from "boundary_set" where "country_code" = $1 order by "level";

select "name" from "admin_area" order by "code";

select "name", "checksum" from "applied_script" where "kind" = $1 order by "name";

select "name", "granule_column" from "granule";

select "name", "header_bytes" as "headerBytes" from "granule" where "coverage_id" = $1 and "granule_row" = $2 order by "granule_column";

select "name", "n", "p2o5", "k2o", "s" from "input_composition" order by "name";

select "product", "crop_code" as "cropCode", "minimum", "maximum", "largest_from" as "largestFrom", "mean_to" as "meanTo" from "plausible_range" order by "product", "crop_code" asc nulls first;

select "product", "crop_code" as "cropCode", "minimum", "maximum", "largest_from" as "largestFrom", "mean_to" as "meanTo" from "plausible_range" where "product" = $1 and ("crop_code" is null or "crop_code" = $2) order by "crop_code" asc nulls last limit $3;

select "publish_at" as "publishAt", "scheduled_at" as "scheduledAt", "scheduled_by" as "scheduledBy", allowed as "allowed", "strict", "refused_at" as "refusedAt", "refusal" from "scheduled_publication" where "release_id" = $1;

select "release"."code" from "publication" inner join "release" on "release"."id" = "publication"."previous_release_id" where "publication"."release_id" = $1;

select "release"."id" from "publication" inner join "release" on "release"."id" = "publication"."release_id" where "release"."code" = $1 and "previous_release_id" is null;

select "release"."id" from "publication" inner join "release" on "release"."id" = "publication"."release_id" where "release"."synthetic" = $1 limit $2;

select "release"."id", "release"."code", "publish_at" as "publishAt", "scheduled_at" as "scheduledAt", "scheduled_by" as "scheduledBy", allowed as "allowed", "strict", "refused_at" as "refusedAt", "refusal" from "scheduled_publication" inner join "release" on "release"."id" = "scheduled_publication"."release_id" inner join "release" as "published" on "published"."id" = $1 and "published"."product" = "release"."product" and "published"."country_code" = "release"."country_code" and "published"."crop_code" is not distinct from "release"."crop_code" and "published"."forecast_period" is not distinct from "release"."forecast_period" where "refused_at" is null and (publish_at, release.id) < ($2::timestamptz, $3::bigint);

select "release"."id", "release"."code", "publish_at" as "publishAt", "scheduled_at" as "scheduledAt", "scheduled_by" as "scheduledBy", allowed as "allowed", "strict", "refused_at" as "refusedAt", "refusal" from "scheduled_publication" inner join "release" on "release"."id" = "scheduled_publication"."release_id" where "refused_at" is null and "publish_at" <= clock_timestamp() and release.id <> all($1) order by "publish_at", "release"."id" limit $2;

select "release"."id", "release"."code", "release"."product", "release"."country_code" as "countryCode", "release"."crop_code" as "cropCode", "release"."forecast_period" as "forecastPeriod", "release"."version", "release"."synthetic", "release"."valid_until" as "validUntil", "release"."source", "release"."licence", "release"."checksum", "release"."lossy", "release"."status", "release"."created_at" as "createdAt", "publication"."published_at" as "publishedAt", "release"."findings" as "findings", case
when release.status = 'loading' then (
select pid
from pg_locks
where locktype = 'advisory' and granted and objsubid = 1
and classid::bigint = "release"."load_lock" >> 32 and objid::bigint = "release"."load_lock" & 4294967295
and database = (select oid from pg_database where datname = current_database())
limit 1
)
end as "loader" from "release" left join "publication" on "publication"."release_id" = "release"."id" where "publication"."product" = $1 and "publication"."country_code" = $2 and "publication"."crop_code" is not distinct from $3 and "publication"."forecast_period" is not distinct from $4;

select "release"."id", "release"."code", "release"."product", "release"."country_code" as "countryCode", "release"."crop_code" as "cropCode", "release"."forecast_period" as "forecastPeriod", "release"."version", "release"."synthetic", "release"."valid_until" as "validUntil", "release"."source", "release"."licence", "release"."checksum", "release"."lossy", "release"."status", "release"."created_at" as "createdAt", "publication"."published_at" as "publishedAt", "release"."findings" as "findings", case
when release.status = 'loading' then (
select pid
from pg_locks
where locktype = 'advisory' and granted and objsubid = 1
and classid::bigint = "release"."load_lock" >> 32 and objid::bigint = "release"."load_lock" & 4294967295
and database = (select oid from pg_database where datname = current_database())
limit 1
)
end as "loader" from "release" left join "publication" on "publication"."release_id" = "release"."id" where "release"."code" = $1 and "release"."status" <> $2;

select "release"."id", "release"."code", "release"."product", "release"."country_code" as "countryCode", "release"."crop_code" as "cropCode", "release"."forecast_period" as "forecastPeriod", "release"."version", "release"."synthetic", "release"."valid_until" as "validUntil", "release"."source", "release"."licence", "release"."checksum", "release"."lossy", "release"."status", "release"."created_at" as "createdAt", "publication"."published_at" as "publishedAt", "release"."findings" as "findings", case
when release.status = 'loading' then (
select pid
from pg_locks
where locktype = 'advisory' and granted and objsubid = 1
and classid::bigint = "release"."load_lock" >> 32 and objid::bigint = "release"."load_lock" & 4294967295
and database = (select oid from pg_database where datname = current_database())
limit 1
)
end as "loader" from "release" left join "publication" on "publication"."release_id" = "release"."id" where "release"."status" <> $1 order by "release"."code";

select "release"."status", "coverage"."id" as "coverage" from "release" left join "coverage" on "coverage"."release_id" = "release"."id" where "release"."code" = $1;

select "release_id" as "id", "publish_at" as "publishAt", "scheduled_at" as "scheduledAt", "scheduled_by" as "scheduledBy", allowed as "allowed", "strict", "refused_at" as "refusedAt", "refusal" from "scheduled_publication";

select "release_id" from "area_result";

select "retired_at" from "signing_key" where "kid" = $1 for update;

select "secret", confirmed_at is not null as "confirmed" from "two_factor" where "user_id" = $1;

select "statistics_version" from "area_result";

select "stopped" from "message";

select "subject" from "auth_throttle" where "subject" = $1 and "failures" > $2 and "first_failure_at" > now() - make_interval(secs => $3::float8);

select "tile_row" from "raster_tile";

select "tile_store" from "release" where "code" = $1;

select "tile_store" from "release" where "id" = $1;

select "user_id" as "userId", "secret" from "two_factor" order by "user_id" limit $1;

select "user_id" as "userId", "through" from "account_removal" order by "removed_at" limit $1;

select "west", "south", "east", "north" from "admin_area" where "country_code" = $1 and "level" = $2;

select (select count(*) from field where collection_id = collection.id)::integer as fields from field_collection as collection where user_id = $1;

select (select count(*) from raster_tile) as tiles, (select count(*) from tile_summary) as summaries,
(select count(*) from coverage) as coverages, (select count(*) from layer) as layers;

select boundaries_version() as boundaries;

select boundaries_version() as version;

select count(*)::integer as count from pg_locks join pg_database on oid = database
where relation = $1::regclass and not granted and datname = current_database();

select count(*)::integer as drafts from field_collection where state = 'draft';

select count(*)::integer as kept from area_result;

select create_history_months(now() + interval '3 months');

select create_history_months(now() + make_interval(months => $1));

select create_history_months(uuid_time($1));

select current_setting('statement_timeout') as timeout;

select current_user as role;

select delete_old_audit_records(12, 1000) as deleted;

select drop_history_month();

select from "account_removal" limit 1;

select from "account_token" limit 1;

select from "admin_area" limit 1;

select from "admin_area_piece" limit 1;

select from "advisory_feedback" limit 1;

select from "answer_template" limit 1;

select from "api_key" limit 1;

select from "api_key_usage" limit 1;

select from "app_user" limit 1;

select from "area_claim" limit 1;

select from "area_result" limit 1;

select from "audit_record" limit 1;

select from "auth_throttle" limit 1;

select from "boundary_set" limit 1;

select from "change_entry" limit 1;

select from "companion" limit 1;

select from "coverage" limit 1;

select from "field" limit 1;

select from "field_collection" limit 1;

select from "field_weights" limit 1;

select from "granule" limit 1;

select from "history_former_id" limit 1;

select from "history_item" limit 1;

select from "history_item_going" limit 1;

select from "history_share" limit 1;

select from "history_size" limit 1;

select from "history_subject" limit 1;

select from "idempotency_record" limit 1;

select from "layer" limit 1;

select from "message" limit 1;

select from "pending_registration" limit 1;

select from "proof_node" limit 1;

select from "publication" limit 1;

select from "raster_tile" limit 1;

select from "recovery_code" limit 1;

select from "refresh_token" limit 1;

select from "release" limit 1;

select from "release_period" limit 1;

select from "release_proof" limit 1;

select from "request_count" limit 1;

select from "scheduled_publication" limit 1;

select from "session" limit 1;

select from "signing_key" limit 1;

select from "skill" limit 1;

select from "skill_counted" limit 1;

select from "subscription" limit 1;

select from "tile_summary" limit 1;

select from "two_factor" limit 1;

select from "usage_of_all" limit 1;

select from "user_usage" limit 1;

select from "webhook_delivery" limit 1;

select from admin_area;

select from app_user;

select from app_user where id = $1 for no key update;

select from app_user where id = $1 for update;

select from area_claim;

select from field_collection where name = 'gone' and state <> 'gone';

select from field_collection where name = 'hanging';

select from field_collection where name = 'slow' and state = 'draft';

select from granule limit 1;

select from history_item;

select from history_item where user_id = $1;

select from publication limit 1;

select from scheduled_publication;

select from session where user_id = $1;

select from webhook_delivery where subscription_id = $1 for update;

select geom from admin_area where code = 'A';

select pg_advisory_xact_lock(7239441);

select pg_advisory_xact_lock(7239444);

select pg_advisory_xact_lock(7239448);

select pg_current_wal_lsn()::text as position;

select pg_is_in_recovery() as replica;

select pg_postmaster_start_time()::text as server;

select pg_stat_clear_snapshot();

select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') as position;

select quote_ident(current_user) as role;

select set_config(name, value, false)
from json_each_text($2) as setting (name, value) join pg_settings using (name)
where pg_backend_pid() = $1;

select statistics from area_result where statistics_version = 3;

select tile_store as store from release where id = $1 and status = 'ready';

update "account_removal" set "through" = $1 where "user_id" = $2;

update "api_key" set "last_used_at" = now() - make_interval(secs => $1) where "id" = $2 returning "last_used_at";

update "app_user" set "email_confirmed" = $1;

update "app_user" set "email_confirmed" = $1 where "email" = $2;

update "app_user" set "email_confirmed" = $1 where "id" = $2;

update "app_user" set "name" = $1 where "id" = $2 returning "id", "email", "name", "organisation", "role", "email_confirmed", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at";

update "app_user" set "name" = $1, "organisation" = $2 where "id" = $3 returning "id", "email", "name", "organisation", "role", "email_confirmed", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at";

update "app_user" set "organisation" = $1 where "id" = $2 returning "id", "email", "name", "organisation", "role", "email_confirmed", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at";

update "app_user" set "password_hash" = $1 where "id" = $2 and "password_hash" = $3;

update "app_user" set "password_hash" = $1, "email_confirmed" = $2 where "id" = $3;

update "app_user" set "role" = $1 where "email" = $2;

update "app_user" set "role" = $1 where "email_key" = $2 returning "id", "email";

update "app_user" set "role" = $1, "password_hash" = $2 where "id" = $3;

update "area_result" set "statistics_version" = $1, "statistics" = $2;

update "auth_throttle" set "blocked_until" = blocked_until + interval '1 minute' where "failures" = $1 and blocked_until > last_failure_at;

update "auth_throttle" set "failures" = $1;

update "companion" set "ordinal" = $1 where "ordinal" = $2;

update "country" set "name" = $1 where "code" = $2;

update "coverage" set "summarised" = $1;

update "coverage" set "summarised" = $1 where "id" = $2;

update "coverage" set "summarised" = $1, "summary_version" = $2 where "id" = $3;

update "coverage" set "summary_version" = $1;

update "coverage" set "tile_size" = $1 where "id" = $2;

update "crop" set "name" = $1 where "code" = $2;

update "field_collection" set "state" = $1, "changed_at" = '-infinity' where "user_id" = $2 and "name" = $3 and "state" = $4;

update "field_collection" set "state" = $1, "changed_at" = now() where "id" = $2 returning "id", "name" as "collection", "fields", "bytes", to_char("changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "changed_at";

update "idempotency_record" set "answer" = $1 where "id" = $2;

update "idempotency_record" set "answer" = $1, "user_id" = $2 where "id" = $3 and "attempt" = $4;

update "layer" set "ordinal" = $1 where "ordinal" = $2;

update "message" set "observed" = $1::jsonb, "told_at" = now() where "id" = $2;

update "message" set "rating" = $1, "told_at" = now() where "id" = $2;

update "message" set "reply" = $1, "offer" = $2 where "id" = $3 and "reply" is null;

update "message" set "reply" = $1, "offer" = $2::jsonb where "id" = $3 and "reply" is null;

update "message" set "reply" = $1, "offer" = $2::jsonb, "code" = $3, "releases" = $4, "answer" = $5::json where "id" = $6 and "reply" is null;

update "message" set "stopped" = $1 where "sender" = $2 and "stopped" = $3;

update "pending_registration" set "token_hash" = $1, "expires_at" = now() + make_interval(hours => $2::integer) where "id" = (select "id" from "pending_registration" where "email_key" = $3 and "expires_at" > now() order by "created_at" desc limit $4) returning "id", "email";

update "publication" set "previous_release_id" = $1 where "previous_release_id" = $2;

update "refresh_token" set "used_at" = clock_timestamp(), "successor_salt" = $1 where "hash" = $2;

update "release" set "conditions" = $1;

update "release" set "load_lock" = $1 where "id" = $2;

update "release" set "status" = $1;

update "release" set "status" = $1 where "code" = $2 returning "id";

update "release" set "status" = $1 where "id" = $2;

update "release" set "status" = $1, "deleted_at" = now() where "id" = $2;

update "release" set "synthetic" = $1;

update "release" set "tile_store" = $1 where "id" = $2;

update "scheduled_publication" set "refused_at" = clock_timestamp(), "refusal" = $1 where "release_id" = $2;

update "session" set "authenticated_at" = now() where "id" = $1;

update "session" set "ended_at" = now() where "ended_at" is null and "id" = $1;

update "session" set "ended_at" = now() where "ended_at" is null and "id" in (
select id from session where ended_at is null and expires_at < now() limit $1 for update skip locked
);

update "session" set "ended_at" = now() where "ended_at" is null and "id" in (
select id from session where user_id = $1 and ended_at is null
order by created_at desc offset $2
);

update "session" set "ended_at" = now() where "ended_at" is null and "user_id" = $1 and "id" = $2;

update "session" set "ended_at" = now() where "ended_at" is null and "user_id" = $1 and "id" is distinct from $2;

update "session" set "last_used_at" = now(), "network" = $1, "user_agent" = $2, "token_family" = $3 where "id" = $4;

update "signing_key" set "retired_at" = now() where "kid" = $1;

update "subscription" set "delivered_at" = clock_timestamp(), "failing_since" = $1, "tried_at" = 
coalesce(tried_at, created_at) + (clock_timestamp() - coalesce(tried_at, created_at)) * (
select power(least(1, extract(epoch from clock_timestamp() - max(leased_until)) + $2::integer), 2)
from webhook_delivery
where subscription_id = subscription.id and done_at is null
)::float8 where "id" = $3;

update "subscription" set "disabled_at" = $1, "disabled_reason" = $2, "failing_since" = $3 where "user_id" = $4 and "id" = $5 returning "id", "name", "product", "country_code", "crop_code" as "crop", to_char(forecast_period, 'YYYY-MM') as "forecast_month", place as "place", "input", "scenario", json_build_object('kind', threshold_kind, 'value', threshold) as "threshold", "url", case when disabled_at is null then 'active' else 'disabled' end as "status", "disabled_reason", to_char("failing_since" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "failing_since", to_char("delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "delivered_at", to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "created_at", "release", told as "values";

update "subscription" set "release" = $1, "leased_until" = $2 where "id" = $3 and "release" is not distinct from $4 and "disabled_at" is null;

update "subscription" set "release" = $1, "leased_until" = $2, "told" = $3::jsonb where "id" = $4 and "release" is not distinct from $5 and "disabled_at" is null;

update "tile_summary" set "bands" = $1;

update "two_factor" set "confirmed_at" = now(), "last_step" = $1 where "user_id" = $2 and "secret" = $3 and "confirmed_at" is null and "begun_at" > now() - interval '1 hour';

update "two_factor" set "last_step" = $1 where "user_id" = $2 and "last_step" < $3;

update "two_factor" set "secret" = $1 where "user_id" = $2 and "secret" = $3;

update "webhook_delivery" set "done_at" = clock_timestamp(), "delivered" = $1, "leased_until" = $2 where "id" = $3 and "done_at" is null;

update field_collection set changed_at = now() - interval '4 minutes' where user_id = $1;

update field_collection set state = 'gone' where id = $1 and state = 'draft';

update field_collection set state = 'gone' where name = 'paused' and state = 'draft';

update release set findings = $1::jsonb where code = $2;

update release_proof set leased_until = now() where root is null;

update subscription set disabled_at = now(), disabled_reason = 'gone';

update subscription set failing_since = now() - interval '1 day';

update subscription set leased_until = now() - interval '1 second';

update subscription set leased_until = null;

update webhook_delivery set attempts = 10, leased_until = null;

update webhook_delivery set due_at = now();

update webhook_delivery set due_at = now() - interval '1 second';

update webhook_delivery set leased_until = leased_until - interval '10 seconds';

