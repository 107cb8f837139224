#!/bin/sh
# Installs Tandem for one user, without root: the program, its manual pages and completions.
set -eu

usage() {
    cat <<'TEXT'
usage: install.sh [--prefix FOLDER] [--sha256 HEX] TARBALL
       install.sh --uninstall [--prefix FOLDER]

TARBALL is a file or an https:// address. Its checksum is read from the same place with .sha256 after the name, or given
with --sha256. Nothing is installed if it does not match. Inside an unpacked tarball, `./install.sh` without TARBALL installs
what is there.

--prefix FOLDER   default: ~/.local, so the program is ~/.local/bin/tandem
--uninstall       removes what this script has installed; data and profiles stay
TEXT
}

fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

prefix=${HOME:?}/.local
sum=
source=
uninstall=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --prefix) [ $# -gt 1 ] || fail "--prefix needs a folder"; prefix=$2; shift ;;
        --sha256) [ $# -gt 1 ] || fail "--sha256 needs a checksum"; sum=$2; shift ;;
        --uninstall) uninstall=1 ;;
        -*) usage >&2; exit 2 ;;
        *) [ -z "$source" ] || { usage >&2; exit 2; }; source=$1 ;;
    esac
    shift
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
list=$prefix/share/tandem/installed-files

if [ -n "$uninstall" ]; then
    [ -f "$list" ] || fail "nothing is installed in $prefix"
    while IFS= read -r file; do rm -f "$prefix/$file"; done <"$list"
    rm -f "$list"
    rmdir "$prefix/share/tandem" 2>/dev/null || true
    echo "Removed Tandem from $prefix. Hubs' data and profiles are where they were."
    exit 0
fi

[ "$(uname -s)" = Linux ] || fail "this is a program for Linux; elsewhere build it with: cargo build --release"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --proto '=https,file' --proto-redir '=https' --output "$2" "$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --https-only --output-document "$2" "$1"
    else
        fail "curl or wget is needed to fetch $1"
    fi
}

here=$(dirname "$0")
if [ -z "$source" ]; then
    # From an unpacked tarball, whose checksum was verified or not by whoever unpacked it.
    [ -x "$here/bin/tandem" ] || { usage >&2; exit 2; }
    tree=$here
else
    case $source in
        https://*)
            fetch "$source" "$work/tarball"
            [ -n "$sum" ] || { fetch "$source.sha256" "$work/sum" && read -r sum _ <"$work/sum"; }
            ;;
        http://*) fail "$source is not https; fetch the file yourself if you trust the way" ;;
        *)
            [ -f "$source" ] || fail "there is no file $source"
            cp "$source" "$work/tarball"
            if [ -z "$sum" ]; then
                [ -f "$source.sha256" ] || fail "there is no $source.sha256; give the checksum with --sha256"
                read -r sum _ <"$source.sha256"
            fi
            ;;
    esac
    sum=$(printf %s "$sum" | tr A-F a-f)
    found=$(sha256sum "$work/tarball" | cut -d' ' -f1)
    [ "$found" = "$sum" ] || fail "the checksum of $source is $found, not $sum; nothing was installed"
    mkdir "$work/tree"
    tar -xzf "$work/tarball" -C "$work/tree" --strip-components 1 --no-same-owner
    tree=$work/tree
fi

"$tree/bin/tandem" --version >"$work/version" 2>"$work/error" \
    || fail "the program does not run on this machine: $(head -n 1 "$work/error")"

# Each file gets its name when it is complete, so that a program that runs is not disturbed.
put() {
    mkdir -p "$(dirname "$prefix/$3")"
    cp "$tree/$2" "$prefix/$3.new.$$"
    chmod "$1" "$prefix/$3.new.$$"
    mv -f "$prefix/$3.new.$$" "$prefix/$3"
    printf '%s\n' "$3" >>"$work/list"
}

put 755 bin/tandem bin/tandem
put 644 completions/bash/tandem share/bash-completion/completions/tandem
put 644 completions/zsh/_tandem share/zsh/site-functions/_tandem
put 644 completions/fish/tandem.fish share/fish/vendor_completions.d/tandem.fish
for page in "$tree"/man/man1/*.1.gz; do
    name=$(basename "$page")
    put 644 "man/man1/$name" "share/man/man1/$name"
done
# What an earlier version had and this one has not.
if [ -f "$list" ]; then
    while IFS= read -r file; do grep -qxF "$file" "$work/list" || rm -f "$prefix/$file"; done <"$list"
fi
mkdir -p "$(dirname "$list")"
cp "$work/list" "$list.new" && mv -f "$list.new" "$list"

echo "Installed $(cat "$work/version") as $prefix/bin/tandem"
case :${PATH:-}: in
    *":$prefix/bin:"*) ;;
    *) echo "Put it on your path: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
echo "Next: tandem serve      a hub on this machine"
echo "      tandem demo       two agents at work"
