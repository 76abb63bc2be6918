#!/bin/sh
# Makes what a packager publishes, in an empty folder: wheel, source distribution, source archive, site, checksums.
#
#   release.sh FOLDER PYTHON PROGRAM [--no-wheel] [--no-site]
#
# PYTHON has the packages of python/requirements/release.txt; PROGRAM is the program that writes the site. Everything is
# made from the last commit in a separate folder, so that no other file of the working tree reaches a release.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
say() { printf '%s\n' "release: $*" >&2; }
stop() { say "$*"; exit 2; }

[ $# -ge 3 ] || stop "usage: release.sh FOLDER PYTHON PROGRAM [--no-wheel] [--no-site]"
folder=$1 python=$(realpath -s "$2") program=$(realpath "$3")
shift 3
wheel=1 site=1
for option in "$@"; do
  case $option in
    --no-wheel) wheel= ;;
    --no-site) site= ;;
    *) stop "$option: expected --no-wheel or --no-site" ;;
  esac
done
mkdir -p "$folder"
folder=$(realpath "$folder")
[ -z "$(ls -A "$folder")" ] || stop "$folder: got a folder with files, expected an empty one"
cd "$root"
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
  say "the working tree differs from the last commit; the release is of the commit"

version=$(git show HEAD:CMakeLists.txt | sed -n 's/^project(draftproof VERSION \([0-9.]*\).*/\1/p')
[ -n "$version" ] || stop "CMakeLists.txt: got no version in project(), expected one"
name=draftproof-$version
# Files in the archives have the time of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

# In the source archive, each link of include/draftproof is replaced by the file that it leads to, for systems without
# symbolic links. Links to folders would also copy sources, so of folders only the headers are copied.
say "source archive"
mkdir "$scratch/$name"
git archive HEAD | tar -x -C "$scratch/$name"
for link in $(git ls-files -s | sed -n 's/^120000 [^\t]*\t//p'); do
  at=$scratch/$name/$link
  target=$(readlink -f "$at")
  rm "$at"
  if [ -d "$target" ]; then
    (cd "$target" && find . -type f \( -name '*.hpp' -o -name '*.cuh' -o -name '*.h' \) -print0 | sort -z |
      tar -c --null -T -) | { mkdir "$at" && tar -x -C "$at"; }
  else
    cp "$target" "$at"
  fi
done
[ -z "$(find "$scratch/$name" -type l)" ] || stop "a symbolic link is left in the source archive"
tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$scratch" "$name" |
  gzip -9n >"$folder/$name-source.tar.gz"

say "source distribution"
git clone --quiet --local --no-hardlinks "$root" "$scratch/clone"
cd "$scratch/clone"
"$python" -m build --no-isolation --sdist --outdir "$folder" . >"$scratch/sdist.log" 2>&1 || { cat "$scratch/sdist.log" >&2; exit 4; }

if [ -n "$wheel" ]; then
  # Builds the wheel from the source distribution, which shows that the source distribution can be built. auditwheel
  # names the oldest C library that has the program's symbols, and copies libfmt, libzip, Clp and libgomp with their
  # dependencies into the wheel. The C++ library of the system is used: Clp throws exceptions through it, and a second
  # copy inside the program could not catch them.
  say "wheel (compiles the program: minutes)"
  mkdir "$scratch/from_sdist" "$scratch/wheel"
  tar -xzf "$folder/$name.tar.gz" -C "$scratch/from_sdist" --strip-components=1
  "$python" -m build --no-isolation --wheel --outdir "$scratch/wheel" "$scratch/from_sdist" >"$scratch/wheel.log" 2>&1 ||
    { tail -n 60 "$scratch/wheel.log" >&2; exit 4; }
  PATH=$(dirname "$python"):$PATH "$python" -m auditwheel repair --strip --wheel-dir "$folder" "$scratch"/wheel/*.whl >&2
  python3 "$root/cmake/add_licences.py" "$folder"/*.whl >&2
fi

if [ -n "$site" ]; then
  say "site"
  code=0
  python3 "$root/docs/site/build.py" "$program" "$scratch/docs" --unmeasured >"$scratch/site.log" 2>&1 || code=$?
  [ $code -eq 0 ] || { tail -n 40 "$scratch/site.log" >&2; exit $code; }
  tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --transform "s,^site,$name-site," -C "$scratch/docs" site | gzip -9n >"$folder/$name-site.tar.gz"
fi

cd "$folder"
sha256sum -- * >"$scratch/SHA256SUMS"
mv "$scratch/SHA256SUMS" .
cat SHA256SUMS
