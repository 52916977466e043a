-- replaces: 0055_strangers_and_turns.sql d85fc6fd04a4bb096820281c20fbb01fb6d23a0a0a18c255f91707b05fab1dd7
-- An attempt that ends at once is no turn.
comment on column subscription.tried_at is
  'The last turn at deliveries: attempts move it towards their end, those of a second or more as far as that.';
