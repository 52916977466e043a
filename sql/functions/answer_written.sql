create or replace function answer_written(pieces text[], answer text) returns text
language sql immutable parallel safe
as $$
  select case
    when pieces is null then answer
    else (
      select string_agg(concat(piece, filling), '' order by place)
      from unnest(pieces, string_to_array(answer, E'\n')) with ordinality as part (piece, filling, place)
    )
  end
$$;

comment on function answer_written(text[], text) is
  'An answer of a history as it was given, from the pieces of its template and what stands between them.';
