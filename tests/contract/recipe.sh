#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Adds a kernel and a map to copies of the sources and of the build tree as src/README.md says: a file, a line of CMake, a name in
# the table and a row of the contract each. What is built then passes the contract, the tests of kernels and the self-test, and the
# command and the builders of specs know both. The copies lie where the originals do, in a mount namespace of this script's own, so
# that little is compiled.
# Usage: recipe.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2 scratch=${3:-}
if [ -z "$scratch" ]; then
  alone=(unshare -m)
  [ "$(id -u)" = 0 ] || alone=(unshare -rm)
  "${alone[@]}" mount --bind "$source" "$source" 2> /dev/null || { echo "SKIPPED: no mount namespace"; exit 0; }
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  mkdir "$scratch/source"
  cp -a "$source"/{CMakeLists.txt,LICENSE,CHANGELOG.md,README.md,src,include,capi,tests,bench,cmake} "$scratch/source/"
  cp -a --reflink=auto "$build" "$scratch/build"
  "${alone[@]}" "$0" "$source" "$build" "$scratch"
  exit
fi
mount --bind "$scratch/source" "$source"
mkdir -p "$build"  # where it lies in the sources
mount --bind "$scratch/build" "$build"
cd "$source"
licence=$(sed -n 1,2p src/kernel/gram.cpp)

cat > src/kernel/affine.cpp <<< "$licence"'
// x'"'"'y + offset.
#include "kernel/entry.h"
namespace mercer::kernel {
namespace {
class Affine final : public Kernel {
 public:
  explicit Affine(const Parameters& canonical)
      : Kernel(canonical), offset_(canonical.number("offset")) {
    traits_.inner_power = {1, 1, offset_};
  }
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() * (inner_product(d, x, y) + offset_);
  }

 private:
  double offset_;
};
}  // namespace
KernelEntry affine_entry() {
  return entry_of<Affine>("affine", "x'"'"'y + offset",
                          {number_field("offset", 1.0, 0, 1e100, "added to the inner product")}, "affine");
}
}  // namespace mercer::kernel'

cat > src/feature/affine.cpp <<< "$licence"'
// The columns of a row and the root of the offset: powers of degree 1 without error.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "feature/map_entry.h"
namespace mercer::feature {
namespace {
class Affine final : public FixedMap {
 public:
  explicit Affine(const MapArguments& a) : FixedMap(a.kernel.copy(), a.inputs, a.features, a.seed) {}
  std::string_view name() const noexcept override { return "affine"; }
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    const kernel::InnerPower power = *kernel().traits().inner_power;
    AlignedBuffer<double> roots(features(), context, "the roots of the factors of columns");
    std::fill_n(roots.data(), inputs(), std::sqrt(kernel().variance() * power.gamma));
    roots.data()[inputs()] = std::sqrt(kernel().variance() * power.offset);
    apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
      Stage stage(context, rows.rows);
      parallel_for(context, rows.rows, [&](int64_t i, int) noexcept {
        for (int64_t j = c.begin; j < c.end; ++j) {
          const double z = roots.data()[j] * (j < inputs() ? static_cast<double>(rows(i, j)) : 1);
          out(i, j - c.begin) = static_cast<std::remove_cvref_t<decltype(out(0, 0))>>(z);
        }
      });
    });
  }
};
int64_t columns_of(const MapArguments& a) {
  const std::optional<kernel::InnerPower> power = a.kernel.traits().inner_power;
  require_features(power && power->degree == 1, a.kernel, "affine", "affine");
  a.kernel.check_dimension(a.inputs);
  return a.inputs + 1;
}
}  // namespace
MapEntry affine_entry() {
  return {.name = "affine",
          .help = "the columns of a row and one constant: exact",
          .make = [](const MapArguments& a) -> std::unique_ptr<FeatureMap> {
            require(a.features == columns_of(a), MERCER_INVALID_ARGUMENT,
                    "features = %ld, expected %ld", a.features, columns_of(a));
            return std::make_unique<Affine>(a);
          },
          .default_kernel = kernel_named("affine"),
          .only_features = columns_of};
}
}  // namespace mercer::feature'

for room in kernel feature; do sed -i 's/^)$/  affine.cpp\n)/' src/$room/CMakeLists.txt; done
for table in Kernel:kernel/kernel Map:feature/map_entry; do
  sed -i "s/^${table%:*}Entry /&affine_entry(), /; s/${table%:*}Entry> table = {/&affine_entry(), /" "src/${table#*:}.cpp"
done
sed -i 's/^  static constexpr KernelRow kRows\[\] = {$/&\n      {R"({"kernel":"affine","offset":0.4,"variance":1.3})", 0.5, 1.0},/' tests/contract/kernel_rows.cpp
sed -i 's/^  static constexpr MapRow kRows\[\] = {$/&\n      {R"({"map":"affine"})", [](const Kernel\& k) { return k.traits().inner_power \&\& k.traits().inner_power->degree == 1; }},/' tests/contract/map_rows.cpp

cmake --build "$build" --target mercer_tool mercer_contract_test mercer_kernel_test mercer_statistic_test mercer_bindings > "$scratch/built" 2>&1 || {
  tail -50 "$scratch/built"
  exit 1
}
grep -c Building "$scratch/built"
"$build/capi/cli/mercer" specs affine | grep -q offset
grep -q "struct Affine : Of<Map>" "$build/capi/include/mercer/spec.hpp"
export OPENBLAS_NUM_THREADS=1
for test in contract kernel; do (cd "$build/tests/$test" && "./mercer_${test}_test" "~[slow]~[apart]~[data]" | tail -400); done
(cd "$build/tests/statistic" && ./mercer_statistic_test "self-test*")
