import pg from 'pg'
import { say } from '../bench.ts'
import type { HistorySize } from '../results.ts'

/** Accounts beside the large one, which has one of so many items. */
const OTHERS = 1999
const LARGE_HAS = 4

/** Further accounts with a tenth of the items between them, which are deleted. */
const DELETED = 4
const DELETED_HAVE = 10

/** So far back the items go. */
const MONTHS = 24

/** One of so many items is rated. */
const RATED = 100

/** What is inserted by one statement. */
const PIECE = 1_000_000

/** Memory for sorting and counting, as an operator would give it for an import. */
const MEMORY = '256MB'

interface Filled extends HistorySize {
  /** E-mails of the accounts that are to be deleted. */
  deleted: string[]
}

/**
 * Fills the histories of a database: items of one account, which the service has kept, are multiplied over two years
 * and many accounts. What the service counts beside them is counted.
 *
 * @param email of that account, which gets every fourth item
 */
export async function fillHistory(url: string, email: string, items: number): Promise<Filled> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const all = async (statements: string[]) => {
      for (const statement of statements) await client.query(statement)
    }
    await all([`set work_mem = '${MEMORY}'`, `set maintenance_work_mem = '${MEMORY}'`])
    await all(modelsOf(email))
    await all(MONTHS_AFRESH)
    const { rows: indexes } = await client.query(INDEXES, [['history_item', 'user_usage']])
    await all(indexes.map(({ drop }) => drop))
    for (let from = 1; from <= items; from += PIECE) {
      say(`history: ${from - 1} of ${items} items`)
      await client.query(insertItems(from, Math.min(items, from + PIECE - 1), items))
    }
    say('history: counts')
    await all(COUNTS)
    say('history: indexes')
    await all(indexes.map(({ make }) => make))
    say('history: feedback')
    await all([FEEDBACK, 'vacuum (analyze)'])
    const { rows } = await client.query<Filled>(FILLED)
    return rows[0] as Filled
  } finally {
    await client.end()
  }
}

/** The models, with those first that are of the country with the fewest; and the accounts, the large one first. */
const modelsOf = (email: string) => [
  `create temporary table model as
  select
    row_number() over (order by country_code <> rare.country, item.id) - 1 as place,
    country_code = rare.country as is_rare,
    item.*
  from history_item as item
  join history_subject as subject on subject.id = subject_id
  cross join (
    select country_code as country from history_item join history_subject on history_subject.id = subject_id
    group by country_code order by count(*), country_code limit 1
  ) as rare`,
  `insert into app_user (email, email_key, password_hash, name)
  select place || '.' || email, place || '.' || email_key, password_hash, name
  from app_user cross join generate_series(1, ${OTHERS}) as place
  where email = '${email}'`,
  `create temporary table account as
  select row_number() over (order by email <> '${email}', id) - 1 as place, id from app_user`,
  'truncate history_item, history_size, user_usage, usage_of_all, advisory_feedback',
  'analyze model',
  'analyze account',
]

/** As in a database that has been there for two years. */
const MONTHS_AFRESH = [
  `do $$
  declare
    partition text;
  begin
    for partition in select history_months.partition from history_months() loop
      execute format('drop table %I', partition);
    end loop;
    execute format(
      'create table history_item_earlier partition of history_item for values from (minvalue) to (%L)',
      uuid_at(date_trunc('month', now() - interval '${MONTHS} months', 'UTC'))
    );
  end
  $$`,
  "select create_history_months(now() + interval '3 months')",
]

/** What is made again once the rows are there. */
const INDEXES = `
  select
    case when conname is null
      then format('drop index %s', indexrelid::regclass)
      else format('alter table %s drop constraint %I', indrelid::regclass, conname)
    end as drop,
    case when conname is null
      then replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
      else format(
        'alter table %s add constraint %I %s',
        indrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid)
      )
    end as make
  from pg_index left join pg_constraint on conindid = indexrelid and contype in ('p', 'u')
  where indrelid = any ($1::text[]::regclass[])
  order by indexrelid`

/** Some of all the items, in the order of their times; the rare models are those of the first tenth alone. */
const insertItems = (from: number, to: number, items: number) => `
  with model_count as (
    select count(*) as models, count(*) filter (where is_rare) as rare from model
  ),
  drawn as (
    select
      date_trunc('month', now() - interval '${MONTHS} months', 'UTC') as begins,
      place,
      case
        when place % ${LARGE_HAS} = 0 then 0
        when place % ${DELETED_HAVE} = 1 then 1 + place / ${DELETED_HAVE} % ${DELETED}
        else 1 + (hashint8(place) & 2147483647) % ${OTHERS}
      end as account,
      hashint8(-place) & 2147483647 as number
    from generate_series(${from}::bigint, ${to}::bigint) as place
  )
  insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
  select
    (
      left(uuid_at(begins + (now() - begins) * (drawn.place / ${items}::float8))::text, 14)
      || '7' || right(gen_random_uuid()::text, 21)
    )::uuid,
    account.id, template_id, bytes, subject_id, crop_code, request, answer
  from drawn
  cross join model_count
  join account on account.place = drawn.account
  join model on model.place = case
    when drawn.place * 10 <= ${items} and number % 2 = 0 then number / 2 % rare
    else rare + number % (models - rare)
  end`

const COUNTS = [
  `insert into history_size (user_id, items, bytes)
  select user_id, count(*), sum(bytes) from history_item group by user_id`,
  `insert into user_usage (user_id, day, product, country_code, crop_code, advisories)
  select
    user_id, day, product, country_code, coalesce(item.crop_code, template.crop_code), sum(advisories)
  from (
    select user_id, template_id, crop_code, (uuid_time(id) at time zone 'UTC')::date as day, count(*) as advisories
    from history_item
    group by 1, 2, 3, 4
  ) as item
  join answer_template as template on template.id = template_id
  join history_subject as subject on subject.id = subject_id
  group by 1, 2, 3, 4, 5
  order by day`,
  `insert into usage_of_all (day, product, country_code, crop_code, slot, advisories)
  select day, product, country_code, crop_code, 0, sum(advisories) from user_usage group by 1, 2, 3, 4`,
]

/** A trigger looks each item up. */
const FEEDBACK = `insert into advisory_feedback (history_id, user_id, rating, observed, created_at, updated_at)
  select id, user_id, 1 + (uuid_hash(id) & 2147483647) % 5, '{}', uuid_time(id), uuid_time(id)
  from history_item
  where (uuid_hash(id) & 2147483647) % ${RATED} = 0`

const FILLED = `
  select
    count(*)::integer as items,
    count(*) filter (where user_id = (select id from account where place = 0))::integer as "itemsOfAccount",
    (select array_agg(email) from account join app_user using (id) where place between 1 and ${DELETED}) as deleted,
    (select count(*)::integer from history_months()) as months,
    (
      select sum(pg_total_relation_size(relid)) / 1e9 from pg_partition_tree('history_item')
    )::float8 as gigabytes
  from history_item`
