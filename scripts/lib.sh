# shellcheck shell=sh
# lib.sh - what quickstart and check have in common. Sourced, never run, with $top set to the top of the tree:
#   say, step          a line for the reader; the beginning of a step
#   install_packages   whatever of some groups of scripts/packages is not installed
#   make_configure     ./configure, where it is missing or old
#   configure_in       configures a build folder, where it isn't
#   cores              how many jobs make may run
: "${top:?}"

say() {
	printf '%s\n' "$*"
}

step() {
	printf '\n==> %s\n' "$*"
}

cores() {
	nproc 2>/dev/null || echo 1
}

# The packages of the groups named, one a line.
packages_of() {
	for group in "$@"; do
		sed -n "s/^$group  *//p" "$top/scripts/packages"
	done
}

# What other packages bring along counts as installed: some builds of nodejs have npm in them.
missing_packages() {
	provided=$(dpkg-query -W -f='${Provides}\n' 2>/dev/null | sed 's/([^)]*)//g; s/,/ /g' | tr '\n' ' ')
	for package in $(packages_of "$@"); do
		status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=
		case "$status $provided " in
		installed\ * | *" $package "*) ;;
		*) printf '%s\n' "$package" ;;
		esac
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		env "$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo env "$@"
	else
		say "this needs root, and there is no sudo: $*" >&2
		return 1
	fi
}

apt() {
	as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
		"$@" </dev/null
}

# install_packages GROUP...: quiet unless it fails. Where there is no apt-get it says what has to be there and goes
# on: configure names what it misses.
install_packages() {
	if ! command -v apt-get >/dev/null 2>&1; then
		say "no apt-get here; needed are what Debian calls:" "$(packages_of "$@" | tr '\n' ' ')"
		return 0
	fi
	missing=$(missing_packages "$@" | tr '\n' ' ')
	if [ -z "$missing" ]; then
		say "all $(packages_of "$@" | wc -l) packages are installed"
		return 0
	fi
	say "installing: $missing"
	apt_log=$(mktemp)
	apt_status=0
	# A stale list of packages still knows most of them: only the installation decides.
	apt update >"$apt_log" 2>&1 || say "apt-get update failed; going on with the lists that are there"
	# shellcheck disable=SC2086  # the names are words
	apt install --no-install-recommends $missing >>"$apt_log" 2>&1 || apt_status=$?
	if [ "$apt_status" -eq 0 ]; then
		say "installed $(printf '%s' "$missing" | wc -w) packages"
	else
		tail -n 30 "$apt_log" >&2
	fi
	rm -f "$apt_log"
	return "$apt_status"
}

make_configure() {
	if [ -x "$top/configure" ] && [ -z "$(find "$top/configure.ac" -newer "$top/configure")" ]; then
		say "configure is there and newer than configure.ac"
		return 0
	fi
	(cd "$top" && autoreconf --install) && say "wrote ./configure"
}

# configure_in FOLDER OPTION...: a folder that somebody else configured stays as it is; one that was configured here
# with other options is made anew, because its objects were built with those.
configure_in() {
	folder=$1
	shift
	if [ -x "$folder/config.status" ]; then
		if [ ! -e "$folder/configured-with" ] || [ "$(cat "$folder/configured-with")" = "$*" ]; then
			say "already configured: $folder"
			return 0
		fi
		rm -rf "$folder"
	fi
	mkdir -p "$folder" && (cd "$folder" && "$top/configure" --quiet "$@") || return 1
	printf '%s\n' "$*" >"$folder/configured-with"
}
