#!/bin/sh
# Archives a finished segment of the write-ahead log: archive_command = 'sh .../archive-wal.sh "%p" "%f"'. PostgreSQL keeps
# the segment, and tries again, until this ends with 0.
set -eu
umask 077

: "${BACKUPS:=/var/backups/agro-advisory}"
segment=$1
archived="$BACKUPS/wal/$2.gz"

# The server may have ended before it noted that it was archived. Another content is of another server.
if [ -e "$archived" ]; then
  gunzip --stdout "$archived" | cmp --quiet "$segment" - && exit 0
  echo "archive-wal.sh: $archived is there already, with another content" >&2
  exit 1
fi

# It gets its name when it is whole and on the disk.
gzip --fast --stdout "$segment" >"$archived.part"
sync "$archived.part"
mv "$archived.part" "$archived"
sync "$BACKUPS/wal"
