# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Every kernel that mercer specs lists fits by its name alone, with its own map, or is refused for a reason that the line says.
# Usage: kernels_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1
. "$here/black_box.sh"
mkdir temporary
export TMPDIR=$PWD/temporary

# Entries without negative ones: some kernels take no others.
{ echo a,b,c,y; rows 80 'a = (uniform() + 1) / 2; b = (uniform() + 1) / 2; c = (uniform() + 1) / 2; print a "," b "," c "," a * b + c'; } >data.csv

# What a kernel without defaults needs.
spec_of() {
  case $1 in
    bilinear) echo '{"kernel":"bilinear","left":1}' ;;
    dot_product) echo '{"kernel":"dot_product","coefficients":[1,0.5,0.25]}' ;;
    sum | product) echo "{\"kernel\":\"$1\",\"parts\":[{\"kernel\":\"gaussian\"},{\"kernel\":\"laplacian\"}]}" ;;
    spectral_mixture) echo '{"kernel":"spectral_mixture","weights":[1,0.5],"means":[[0,0.5,1],[1,1,0]],"variances":[0.5,1]}' ;;
    *) echo "$1" ;;
  esac
}

# Of a kernel and options: warnings may be told, the map is that of specs.
fits() {
  "$MERCER" fit data.csv -o fitted.model --quiet --kernel "$@" 2>told
}

names=$("$MERCER" specs | awk '/^kernels /{inside = 1; next} /^[a-z]/{inside = 0} inside && /^  [a-z0-9_]+ - /{print $1}')
for name in $names; do
  spec=$(spec_of "$name")
  map=$("$MERCER" specs "$name" | sed -n 's/^ *without --map: //p')
  if ! fits "$spec" --features 32; then
    # Standardised inputs have negative entries, which some kernels refuse.
    grep -q 'standard\|domain' told || complain "--kernel $spec: $(cat told)"
    fits "$spec" --features 32 --no-standardize || complain "--kernel $spec --no-standardize: $(cat told)"
  fi
  "$MERCER" info fitted.model >out
  contains "$map" "--kernel $spec"
  [ "$spec" = "$name" ] || refuses 'key "kernel.[a-z]*" is missing' "$MERCER" fit data.csv -o result --kernel "$name"
done
[ "$(echo "$names" | wc -l)" -ge 22 ] || complain "mercer specs lists few kernels: $names"

# A map made of rows has no more features than there are rows, and says so where more were asked for.
fits "$(spec_of dot_product)" || complain "without --features: $(cat told)"
grep -q 'features, not' told && complain "without --features: $(cat told)"
fits "$(spec_of dot_product)" --features 2048 || complain "--features 2048: $(cat told)"
grep -q '80 features, not 2048' told || complain "--features 2048: $(cat told)"

# Hostile lists.
mixture() { refuses "$1" "$MERCER" fit data.csv -o result --kernel "{\"kernel\":\"spectral_mixture\",$2}"; }
mixture 'numbers beside lists' '"weights":[1],"means":[[1],2],"variances":[1]'
mixture 'means\[1\] = a list of 2 numbers, expected 3' '"weights":[1,1],"means":[[1,2,3],[1,2]],"variances":[1,1]'
mixture 'means\[0\] = a list of 0 numbers' '"weights":[1],"means":[[]],"variances":[1]'
mixture 'lists inside a list' '"weights":[1],"means":[[[1]]],"variances":[1]'
mixture 'd = 3, expected the 2 inputs' '"weights":[1],"means":[[1,2]],"variances":[1]'
finish
