#!/usr/bin/env bash
# The Debian packages: they hold what `cmake --install` puts there, and whorl runs in a root that has nothing
# but what the packages say that they depend on.
#
# Usage: packages.sh TREE, in the project's folder. The root is made of files of this machine's packages, so
# nothing is fetched. Exit codes: 0 as it should be; 1 not so; 77 skipped, loudly.
set -euo pipefail

tree="$(realpath "$1")"
readonly tree

skip() {
  echo "SKIPPED: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}

for program in cpack dpkg dpkg-deb dpkg-query dpkg-shlibdeps tar; do
  command -v "$program" >/dev/null || skip "there is no $program, so there are no packages"
done

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

cpack --config "$tree/CPackConfig.cmake" -B "$scratch/made" >"$scratch/log" 2>&1 ||
  fail "cpack: $(tail -n 20 "$scratch/log")"
mkdir "$scratch/content"
for deb in "$scratch"/made/*.deb; do
  echo "$(basename "$deb"): $(dpkg-deb --field "$deb" Depends)"
  dpkg-deb --extract "$deb" "$scratch/content"
done
field() { dpkg-deb --field "$scratch"/made/"$1"_*.deb "$2"; }

# --- what is in them -----------------------------------------------------------------------------------

cmake --install "$tree" --prefix "$scratch/installed" >"$scratch/log" || fail "$(cat "$scratch/log")"
files() { (cd "$1" && find . ! -type d | sort); }
diff <(files "$scratch/installed") <(files "$scratch/content/usr") ||
  fail "the packages do not hold what cmake --install puts there"
# No file is in two packages, or dpkg would refuse the second one.
for deb in "$scratch"/made/*.deb; do dpkg-deb --contents "$deb"; done |
  awk '!/^d/ { print $6 }' | sort | uniq --repeated >"$scratch/twice"
[[ ! -s "$scratch/twice" ]] || fail "in two packages: $(cat "$scratch/twice")"

version="$("$tree/whorl" --version)"
for package in whorl libwhorl-dev; do
  [[ "whorl $(field $package Version)" == "$version" ]] || fail "$package is of $(field $package Version)"
done
with_locks=false
if compgen -G "$scratch/made/whorl-locks_*.deb" >/dev/null; then
  with_locks=true
  [[ "$(field whorl-locks Depends)" == *"whorl (= ${version#whorl })"* ]] ||
    fail "whorl-locks does not depend on the same whorl"
fi

# --- a root with nothing else --------------------------------------------------------------------------

# A user namespace makes one root in it.
as_root=()
if ((EUID != 0)); then
  as_root=(unshare --user --map-root-user)
  "${as_root[@]}" true 2>/dev/null || skip "only root, or who may make a user namespace, installs packages"
fi

# The packages that these depend on, and those that they depend on, as they are installed here.
names_of() {  # names_of DEPENDS: the first of alternatives
  tr ',' '\n' <<<"$1" | sed -E 's/\|.*//; s/\(.*\)//; s/:[a-z]+//; s/ //g; /^$/d'
}
declare -A needed=()
need() {
  local name depends
  for name in $(names_of "$1"); do
    [[ -z "${needed[$name]:-}" && "$name" != whorl ]] || continue
    depends="$(dpkg-query --show --showformat='${Pre-Depends}, ${Depends}' "$name" 2>/dev/null)" || continue
    needed[$name]=yes
    need "$depends"
  done
}
need "$(field whorl Depends)"
if $with_locks; then need "$(field whorl-locks Depends)"; fi

root="$scratch/root"
mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{tmp,etc} "$root"/var/lib/dpkg/{info,updates,triggers}
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
touch "$root"/var/lib/dpkg/{available,status}
for name in "${!needed[@]}"; do
  dpkg-query --status "$name" >>"$root/var/lib/dpkg/status"
  echo >>"$root/var/lib/dpkg/status"
  dpkg-query --listfiles "$name"
done | sort --unique | while IFS= read -r path; do
  # Documentation may be left out of a machine.
  if [[ ! -d "$path" && -e "$path" ]]; then echo "${path#/}"; fi
done >"$scratch/list"
tar --create --directory=/ --files-from="$scratch/list" | tar --extract --directory="$root"
echo "a root of ${#needed[@]} packages"

install=("$scratch"/made/whorl_*.deb)
if $with_locks; then install+=("$scratch"/made/whorl-locks_*.deb); fi
"${as_root[@]}" dpkg --root="$root" --install "${install[@]}" >"$scratch/log" 2>&1 ||
  fail "dpkg: $(cat "$scratch/log")"

inside() { "${as_root[@]}" chroot "$root" "$@"; }
[[ "$(inside whorl --version)" == "$version" ]] || fail "the installed whorl is not $version"
inside whorl replay /usr/share/whorl/scenarios/gc_pause_stale_token.json >"$scratch/log" ||
  fail "a scenario: $(cat "$scratch/log")"
grep --quiet '^1 scenario: 1 as expected' "$scratch/log" || fail "a scenario: $(cat "$scratch/log")"
if $with_locks; then
  # The program that whorl becomes. By its own name: there is no /proc in this root to find it by.
  inside /usr/libexec/whorl/whorl-grpc lock --help >"$scratch/log" || fail "whorl lock: $(cat "$scratch/log")"
fi
"${as_root[@]}" dpkg --root="$root" --purge $($with_locks && echo whorl-locks) whorl >"$scratch/log" 2>&1 ||
  fail "dpkg: $(cat "$scratch/log")"
[[ ! -e "$root/usr/bin/whorl" && ! -e "$root/usr/share/whorl" && ! -e "$root/usr/libexec/whorl" ]] ||
  fail "something is left behind"
