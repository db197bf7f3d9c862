# Runs a throwaway PgBouncer until standard input ends; then kills it and removes its folder.
# usage: bouncer.sh <program> <folder to make the bouncer's folder in, or nothing>
# Its settings come in $SETTINGS, its users in $USERS. Prints the folder, then "ready" or "failed" (the reason is in
# <folder>/log).

start() {
	printf '%s' "$USERS" >"$folder/users"
	cat >"$folder/ini" <<-END
		$SETTINGS
		auth_file = $folder/users
		unix_socket_dir = $folder
		pidfile = $folder/pid
	END
	"$1" "$folder/ini" </dev/null >>"$folder/log" 2>&1 &
}

# It writes its pid when it listens. The socket is there a moment earlier.
listens() {
	until [ -s "$folder/pid" ]; do
		kill -0 $! || return
		sleep 0.01
	done
}

trap '' PIPE # whoever reads may be gone before the bouncer is there; it has to be stopped all the same
folder=$(mktemp -d "${2:-/tmp}/pgtest.XXXXXX" 2>/dev/null || mktemp -d /tmp/pgtest.XXXXXX) || exit
echo "$folder"
exec 2>>"$folder/log"
start "$1"
if listens; then echo ready; else echo failed; fi
cat >/dev/null
kill -KILL $!
wait
rm -rf "$folder"
