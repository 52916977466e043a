-- replaces: 0055_strangers_and_turns.sql
-- An attempt that ends at once is no turn.
comment on column subscription.tried_at is
  'The last turn at deliveries: attempts move it towards their end, those of a second or more as far as that.';
