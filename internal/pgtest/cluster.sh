# Runs a throwaway Postgres cluster until standard input ends; then stops it at once and removes it.
# A line of it is the order to start the server again, which somebody has killed; the answer is "ready" or "failed".
# usage: cluster.sh <folder of the programs> <folder to make the cluster's folder in, or nothing>
# Prints the cluster's folder, then "ready" or "failed" (the reason is in <cluster's folder>/log).

make() {
	[ -n "$1" ] && mktemp -d "$1/pgtest.XXXXXX" 2>/dev/null
}

# A database is some hundred small files: in memory it is made six times as fast as on a disk. Docker's 64 MB do not do.
roomy() {
	df -Pk "$1" 2>/dev/null | awk 'NR == 2 && $4 > 2000000 { roomy = 1 } END { exit !roomy }'
}

init() {
	"$1/initdb" -D "$folder/data" -A trust -U postgres --no-sync -E UTF8 --locale=C || return
	cat >>"$folder/data/postgresql.conf" <<-END
		unix_socket_directories = '$folder'
		listen_addresses = ''
		port = 5432
		max_connections = 200
		fsync = off
		full_page_writes = off
		max_wal_size = 256MB
	END
}

start() {
	"$1/pg_ctl" start -w -t 60 -D "$folder/data" -l "$folder/log"
}

trap '' PIPE # whoever reads may be gone before the server is there; it has to be stopped all the same
# The folder that was asked for may be closed to the user that runs this: root's is.
folder=$(make "$2" || { roomy /dev/shm && make /dev/shm; } || make /tmp) || exit
echo "$folder"
exec 2>>"$folder/log"
if init "$1" >&2 && start "$1" >&2; then echo ready; else echo failed; fi
while read -r _; do
	# No process is left that the files could speak of, but its parent may be slow to reap it.
	rm -f "$folder/data/postmaster.pid" "$folder"/.s.PGSQL.5432*
	if start "$1" >&2; then echo ready; else echo failed; fi
done
"$1/pg_ctl" stop -m immediate -D "$folder/data" >&2
rm -rf "$folder"
