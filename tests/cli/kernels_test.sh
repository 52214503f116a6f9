# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Every kernel that mercer specs lists fits by its name alone, with its own map, or is refused for a reason that the line says.
# Usage: kernels_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"
use_own_temporary

# Entries without negative ones: some kernels take no others.
{ echo a,b,c,y; rows 80 'a = (uniform() + 1) / 2; b = (uniform() + 1) / 2; c = (uniform() + 1) / 2; print a "," b "," c "," a * b + c'; } >data.csv

# What a kernel without defaults needs.
spec_of() {
  case $1 in
    bilinear) echo '{"kernel":"bilinear","left":1}' ;;
    dot_product) echo '{"kernel":"dot_product","coefficients":[1,0.5,0.25]}' ;;
    metric) echo '{"kernel":"metric","matrix":[[1,0.5,0],[0,2,1]],"of":"gaussian"}' ;;
    sum | product) echo "{\"kernel\":\"$1\",\"parts\":[{\"kernel\":\"gaussian\"},{\"kernel\":\"laplacian\"}]}" ;;
    radial) echo '{"kernel":"radial","most_inputs":3,"radii":[0,0.3,0.6,0.9,1.2,1.5,1.8,2.1,2.4,2.7,3,3.3,3.6,3.9,4.2,4.5,4.8,5.1,5.4,5.7,6],"values":[1,0.955997,0.83527,0.666977,0.486752,0.324652,0.197899,0.110251,0.0561348,0.0261214,0.011109,0.00431784,0.00153381,0.000497955,0.000147748,4.00653e-05,9.9295e-06,2.24906e-06,4.65572e-07,8.80818e-08,1.523e-08]}' ;;
    spectral_mixture) echo '{"kernel":"spectral_mixture","weights":[1,0.5],"means":[[0,0.5,1],[1,1,0]],"variances":[0.5,1]}' ;;
    *) echo "$1" ;;
  esac
}

# Of a kernel and options: warnings may be told, the map is that of specs.
fits() {
  "$MERCER" fit data.csv -o fitted.model --quiet --kernel "$@" >out 2>told
}

names=$("$MERCER" specs | awk '/^kernels /{inside = 1; next} /^[a-z]/{inside = 0} inside && /^  [a-z0-9_]+ - /{print $1}')
for name in $names; do
  case $name in
    curl_free | decomposable | divergence_free | helmholtz)
      refuses "$name.*has several outputs" "$MERCER" fit data.csv -o result --kernel "$name"
      continue
      ;;
    custom) # callbacks of a program that uses the library
      refuses "custom.*expected one that mercer_custom_create registered" "$MERCER" fit data.csv -o result --kernel "$name"
      continue
      ;;
    sphere_polynomial) # rows of norm 1
      refuses "$name.*expected unit_rows = true" "$MERCER" fit data.csv -o result --kernel "$name"
      fits "{\"kernel\":\"$name\",\"unit_rows\":true}" --features 32 || complain "--kernel $name of unit rows: $(cat told)"
      continue
      ;;
  esac
  spec=$(spec_of "$name")
  map=$("$MERCER" specs "$name" | sed -n 's/^ *default_map: //p')
  if ! fits "$spec" --features 32; then
    # Standardised inputs have negative entries, which some kernels refuse.
    grep -q 'standard\|domain' told || complain "--kernel $spec: $(cat told)"
    fits "$spec" --features 32 --no-standardize || complain "--kernel $spec --no-standardize: $(cat told)"
  fi
  "$MERCER" info fitted.model >out
  contains "$map" "--kernel $spec"
  [ "$spec" = "$name" ] || refuses 'kernel.[a-z_]*" is missing' "$MERCER" fit data.csv -o result --kernel "$name"
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
refuses 'd = 3, expected the 2 inputs' "$MERCER" fit data.csv -o result --kernel '{"kernel":"metric","matrix":[[1,2]]}'
refuses 'matrix\[1\] = a list of 2 numbers, expected 3' "$MERCER" fit data.csv -o result --kernel '{"kernel":"metric","matrix":[[1,2,3],[1,2]]}'

# Rows outside the kernel's domain: by row, column and number of the file, before anything is shuffled or scaled.
fits additive_chi2 --features 33 || complain "additive_chi2: $(cat told)"
{ echo a,b,c,y; echo 0.5,0.5,0.5,1; echo 0.5,-0.25,0.5,1; echo -1,0.5,0.5,1; } >outside.csv
refuses "row 2, column 'b' is -0.25.* >= 0, as kernel additive_chi2" "$MERCER" predict fitted.model outside.csv -o result --extrapolation free
refuses "row 2, column 'b' is -0.25.* >= 0, as kernel additive_chi2" "$MERCER" score fitted.model outside.csv --extrapolation free
"$MERCER" predict fitted.model outside.csv -o clipped.csv >out 2>err || complain "rows outside are not clipped"
tail -n 80 data.csv | sed '7s/[^,]*,[^,]*/0.5,-0.25/' | sed '1i a,b,c,y' >outside.csv
refuses "outside.csv: row 7, column 'b' is -0.25, .*additive_chi2" "$MERCER" compare outside.csv --kernel additive_chi2
awk -F, 'NR > 1 { print $4, (NR == 8 ? "2:-0.25" : "1:" $1), "9:1" }' data.csv >outside.svm
refuses "row 7, column 2 is -0.25, .*additive_chi2" "$MERCER" compare outside.svm --kernel additive_chi2
# Sparse rows with negative numbers stay inside where some are allowed, as dense ones do.
awk -F, 'NR > 1 { print $4, "1:" 0.01 * $1 - 0.005, "9:" $2 }' data.csv >small.svm
"$MERCER" compare small.svm --kernel skewed_chi2 --features 32 --quiet >out 2>err || complain "sparse skewed_chi2: $(cat err)"
grep -q nan out && complain "sparse skewed_chi2: $(cat out)"
finish
