#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Makes the Debian packages of what a build tree has built, judges them with lintian and dpkg-gensymbols, installs them under a
# scratch root, builds and runs programs against them, installs over them, removes them, and finds nothing left.
# Usage: packages.sh CMAKE SOURCE BUILD WORK [configure options]
set -euo pipefail
export PATH=/usr/bin:$PATH  # Debian's compilers and python3
cmake=$1 source=$2 build=$3 work=$4
shift 4
for tool in dpkg dpkg-deb dpkg-shlibdeps dpkg-gensymbols fakeroot; do
  command -v $tool > /dev/null || { echo "SKIPPED: no $tool"; exit 0; }
done
[ -r /var/lib/dpkg/status ] || { echo "SKIPPED: not a Debian system"; exit 0; }

# A tree as the preset debian configures it takes over what the other one has built.
rm -rf "$work"
mkdir -p "$work"
"$cmake" -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_RPATH=ON \
  -DMERCER_BUILD_TESTS=OFF "$@" > "$work/configured"
cp -a "$build"/capi/libmercer*.so* "$work/build/capi/"
programs=(mercer)
[ ! -e "$build/capi/cli/mercer-mpi" ] || programs+=(mercer-mpi)
cp "${programs[@]/#/$build/capi/cli/}" "$work/build/capi/cli/"
cp -r "$build/command_texts" "$work/build/"
cp -r "$build"/capi/{clients,include} "$work/build/capi/"
[ ! -d "$build/reference" ] || cp -r "$build/reference" "$work/build/"
printf 'file(RPATH_REMOVE FILE "%s")\n' "${programs[@]/#/$work/build/capi/cli/}" "$work"/build/capi/libmercer*.so.*.*.* > "$work/strip.cmake"
"$cmake" -P "$work/strip.cmake"
SOURCE_DATE_EPOCH=1700000000 "$(dirname "$cmake")/cpack" --config "$work/build/CPackConfig.cmake" -B "$work/packages" \
  > "$work/packed" 2>&1 || { cat "$work/packed"; exit 1; }
files=("$work"/packages/*.deb)
names=()
for file in "${files[@]}"; do
  names+=("$(dpkg-deb -f "$file" Package)")
  dpkg-deb -f "$file" Package Depends | sed "s/^/  /"
  case ${names[-1]} in libmercer[0-9]*) library=${names[-1]} library_file=$file ;; esac
done
mpi=()
[ ! -e "$build/capi/libmercer_mpi.so" ] || mpi=("${library/mercer/mercer-mpi}" libmercer-mpi-dev mercer-mpi)
[ ! -e "$build/capi/libmercer_scalapack.so" ] || mpi+=("${library/mercer/mercer-scalapack}" libmercer-scalapack-dev)
for name in "$library" libmercer-dev mercer-tools "${mpi[@]}"; do [[ " ${names[*]} " = *" $name "* ]]; done

# The name follows the SONAME; the list of symbols is that of the library.
dpkg-deb -R "$library_file" "$work/library"
version=$(dpkg-deb -f "$library_file" Version)
object=$(find "$work/library" -name 'libmercer.so.*' -type f)
[ "lib$(readelf -d "$object" | sed -n 's/.*SONAME.*\[lib\(.*\)\.so\.\(.*\)\]/\1\2/p')" = "$library" ]
mkdir "$work/debian"
printf 'Source: mercer\n\nPackage: %s\nArchitecture: any\n' "$library" > "$work/debian/control"
(cd "$work" && dpkg-gensymbols -c4 -q -v"$version" -p"$library" -P"$work/library" -I"$work/library/DEBIAN/symbols" -O"$work/symbols")
sed /mercer_version/d "$work/library/DEBIAN/symbols" > "$work/fewer"
if (cd "$work" && dpkg-gensymbols -c4 -q -v"$version" -p"$library" -P"$work/library" -I"$work/fewer" -O"$work/symbols") > /dev/null 2>&1; then
  echo "dpkg-gensymbols does not notice a symbol that is not listed"
  exit 1
fi
if command -v lintian > /dev/null; then
  lintian --allow-root --fail-on error,warning "${files[@]}"
else
  echo "no lintian: packages are not judged"
fi

# A root of its own, in which the database takes this machine's packages for installed.
root=$work/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
sed '/^Package: \(lib\)\?mercer/,/^$/d' /var/lib/dpkg/status > "$root/var/lib/dpkg/status"
as_root() {
  PATH=$PATH:/usr/sbin:/sbin fakeroot dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null "$@" \
    > "$work/dpkg.log" 2>&1 || { grep -v 'files list file' "$work/dpkg.log"; return 1; }
}
as_root -i "${files[@]}"
libraries=$(dirname "$(find "$root" -name libmercer.so)")
export LD_LIBRARY_PATH=$libraries PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$(pkg-config --variable pc_path pkg-config)
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_PATH=
awk '$0 == "```c" { on = 1; next } /^```/ { on = 0 } on' "$source/README.md" > "$work/readme.c"
read -ra flags < <(pkg-config --cflags --libs mercer)
cc "$work/readme.c" "${flags[@]}" -o "$work/readme" && "$work/readme"
for name in mpi scalapack; do
  [ -e "$build/capi/libmercer_$name.so" ] || continue
  awk '$0 == "```c '$name'" { on = 1; next } /^```/ { on = 0 } on' "$source/capi/GUIDE.md" > "$work/$name.c"
  read -ra flags < <(pkg-config --cflags --libs "mercer-$name")
  mpicc "$work/$name.c" "${flags[@]}" -o "$work/$name" && OMPI_MCA_plm=isolated "$work/$name"
done
"$root/usr/share/mercer/clients/run" "$work/clients" c cpp fortran python r rust go julia | grep -v "^SKIPPED"
"$root/usr/bin/mercer" specs gaussian > /dev/null
[ -z "$(readelf -d "$root/usr/bin/mercer" "$libraries/libmercer.so" | grep -E 'R(UN)?PATH')" ]
for text in man/man1/mercer-fit.1.gz "doc/$library/copyright" mercer/clients/go/entries.go bash-completion/completions/mercer; do
  [ -s "$root/usr/share/$text" ] || { echo "no $text"; exit 1; }
done

[ ! -d "$build/reference" ] || [ -s "$root/usr/share/doc/mercer/html/model_8h.html" ]

as_root -i "${files[@]}"  # over themselves
python3 -m compileall -q "$root/usr/lib/python3/dist-packages/mercer"  # as root's imports do
as_root --purge "${names[@]}"
left=$(find "$root" -mindepth 1 -not -path "$root/var*")
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
