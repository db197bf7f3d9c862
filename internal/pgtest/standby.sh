# Runs a hot standby of a throwaway cluster until standard input ends; then stops it at once and removes it.
# usage: standby.sh <folder of the programs> <the cluster's folder>
# Prints the standby's folder, then "ready" or "failed" (the reason is in <standby's folder>/log).

# The copy is made while the cluster is stopped: that works with every version, and wants no program but these.
start() {
	"$1/pg_ctl" stop -w -m fast -D "$2/data" || return
	cp -R "$2/data" "$folder/data"
	"$1/pg_ctl" start -w -t 60 -D "$2/data" -l "$2/log" || return
	cat >>"$folder/data/postgresql.conf" <<-END
		unix_socket_directories = '$folder'
		primary_conninfo = 'host=$2 port=5432 user=postgres'
	END
	touch "$folder/data/standby.signal"
	"$1/pg_ctl" start -w -t 60 -D "$folder/data" -l "$folder/log"
}

trap '' PIPE # whoever reads may be gone before the server is there; it has to be stopped all the same
folder=$(mktemp -d "${2%/*}/pgtest.XXXXXX") || exit
echo "$folder"
exec 2>>"$folder/log"
if start "$1" "$2" >&2; then echo ready; else echo failed; fi
cat >/dev/null
"$1/pg_ctl" stop -m immediate -D "$folder/data" >&2
rm -rf "$folder"
