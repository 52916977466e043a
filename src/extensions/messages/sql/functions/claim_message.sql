-- Begins to answer a message, unless another request does, or the sender has sent too many in a day. A first STOP is
-- taken then, too, as that of a stranger without any other message; after a STOP only what wakes the service again is. In
-- PL/pgSQL because a statement behind the lock sees what was stored before it.
create or replace function claim_message(
  message_id bytea, sent_by bytea, most_a_day integer, is_stop boolean, wakes boolean
) returns table (
  claimed boolean, reply text, today integer, stopped boolean, offer jsonb, last_code text, latest bytea[]
)
language plpgsql
as $$
#variable_conflict use_column
begin
  -- The messages of a sender come one after the other, so that each counts all before it.
  perform pg_advisory_xact_lock(7239474, hashtext(encode(sent_by, 'hex')));
  return query
  with before as (
    select
      count(*) filter (where arrived_at > now() - interval '1 day')::integer as today,
      coalesce(bool_or(stopped), false) as stopped,
      count(*) = 0 as is_stranger
    from message
    where sender = sent_by and id <> message_id
  ),
  claim as (
    insert into message as mine (id, sender, of_stranger)
    -- One beyond the limit is taken: its reply names the limit.
    select message_id, sent_by, is_stop and is_stranger from before
    where case when stopped then wakes and today <= most_a_day else is_stop or today <= most_a_day end
    -- After as long a process has died with its message: the deadline of an answer is shorter.
    on conflict (id) do update set begun_at = now()
    where mine.reply is null and mine.begun_at < now() - interval '5 seconds'
    returning id
  )
  select
    exists (select from claim),
    (select reply from message where id = message_id),
    before.today,
    before.stopped,
    -- The life of a conversation.
    case when last.arrived_at > now() - interval '10 minutes' then last.offer end,
    (
      select code from message
      where sender = sent_by and code is not null
      order by arrived_at desc
      limit 1
    )::text,
    -- Gateways ask again within minutes.
    case when case when is_stop then before.stopped else before.today > most_a_day end then array(
      select id from message
      where sender = sent_by and arrived_at > now() - interval '1 hour'
      order by arrived_at desc
      limit 100
    ) end
  from before
  left join lateral (
    select offer, arrived_at
    from message
    where sender = sent_by and id <> message_id and reply is not null
    order by arrived_at desc
    limit 1
  ) as last on true;
end
$$;

comment on function claim_message(bytea, bytea, integer, boolean, boolean) is
  'Takes a message to be answered, once, and tells the state of its sender: messages of the day, a STOP, the last offer.';
