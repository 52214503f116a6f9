// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The progress of a call is one fraction of it, from what is drawn on first use to the last tile,
// whatever the call reads: it never runs back, keeps its total and reaches it.
#include "feature/feature_map.h"
#include "feature/fourier.h"
#include "feature/linear.h"
#include "feature/sketch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/made_map.h"
#include "support/sparse.h"

namespace progress_test {
using namespace mercer;
using namespace mercer::feature;

constexpr int64_t kInputs = 24;

struct Watch {
  int64_t calls = 0, stop_at = -1, last = 0, total = 0, values = 0;
  bool sane = true;
  static int32_t see(void* user, int64_t done, int64_t total) {
    auto& watch = *static_cast<Watch*>(user);
    watch.sane = watch.sane && done >= watch.last && done <= total &&
                 (watch.calls == 0 || total == watch.total);
    watch.values += watch.calls == 0 || done != watch.last;
    watch.last = done;
    watch.total = total;
    return ++watch.calls == watch.stop_at;
  }
};

// A map not yet prepared, and one call of it.
struct Case {
  const char* name;
  std::unique_ptr<FeatureMap> (*make)();
  void (*call)(const FeatureMap&, Context&);
};

std::unique_ptr<FeatureMap> fourier(const char* projection) {
  FourierOptions options;
  options.projection = projection;
  return make_fourier(*kernel::make_gaussian({1.0}, 1.0), kInputs, 8192, options);
}
std::unique_ptr<FeatureMap> sketch(const kernel::Kernel& kernel, SketchField field) {
  SketchOptions options;
  options.field = field;
  return make_sketch(kernel, kInputs, 2048, options);
}

std::unique_ptr<FeatureMap> composed(const char* rule) {
  const auto part = std::make_shared<const Parameters>(kernel_named("gaussian"));
  return test::made_map(rule, {{"kernel", rule}, {"parts", ObjectList{part, part}}}, kInputs, 2048);
}

void dense_slice(const FeatureMap& map, Context& context, Columns c) {
  const Matrix<float> X = test::random_matrix<float>(1500, kInputs, 1);
  const Matrix<float> Z(1500, c.end - c.begin);
  map.apply(X.view(), c, context, Z.view());
}
void dense(const FeatureMap& map, Context& context) {
  dense_slice(map, context, {0, map.features()});
}
// The end of one part of the columns and the beginning of the next.
void apart(const FeatureMap& map, Context& context) {
  const int64_t F = map.features() / 2;
  dense_slice(map, context, {F - F / 4, F + F / 4});
}
void sparse(const FeatureMap& map, Context& context) {
  const auto X = test::sparse_rows<float>(1500, kInputs, 5, 2);
  const Matrix<float> Z(1500, map.features());
  map.apply(X.view(), {0, map.features()}, context, Z.view());
}
void locations(const FeatureMap& map, Context& context) {
  const Matrix<float> X = test::random_matrix<float>(1500, kInputs / 2, 1);
  const Matrix<float> Z(15, map.features());
  map.pair()->apply_pair(X.view(), X.view(), 100, {0, map.features()}, context, Z.view());
}
void prepare(const FeatureMap& map, Context& context) { map.prepare(Precision::f32, context); }

const Case kCases[] = {
    {"dense rows", [] { return fourier("dense"); }, dense},
    {"a slice in two pieces", [] { return fourier("dense"); }, apart},
    {"sparse rows", [] { return fourier("dense"); }, sparse},
    {"sparse rows made dense", [] { return fourier("sorf"); }, sparse},
    {"preparing", [] { return fourier("dense"); }, prepare},
    {"preparing orthogonal blocks", [] { return fourier("orthogonal"); }, prepare},
    {"linear", [] { return make_linear(*kernel::make_polynomial(1, 1, 0, 1), kInputs, 4096, {}); },
     dense},
    {"count sketch",
     [] {
       return make_linear(*kernel::make_polynomial(1, 1, 0, 1), kInputs, 4096,
                          {LinearProjection::countsketch, 1});
     },
     sparse},
    {"sketch",
     [] { return sketch(*kernel::make_polynomial(3, 1, 1, 1), SketchField::complex_to_real); },
     dense},
    {"sketch in two pieces",
     [] { return sketch(*kernel::make_polynomial(3, 1, 1, 1), SketchField::complex_to_real); },
     apart},
    {"sparse sketch",
     [] { return sketch(*kernel::make_polynomial(3, 1, 1, 1), SketchField::real); }, sparse},
    {"locations", [] { return sketch(*kernel::make_bilinear(kInputs / 2, 1), SketchField::real); },
     locations},
    {"sum", [] { return composed("sum"); }, dense},
    {"product", [] { return composed("product"); }, dense},
    {"product in two pieces", [] { return composed("product"); }, apart},
};

TEST_CASE("progress of a map's call is one fraction of the call, whatever it reads") {
  std::string faults;
  for (const Case& one : kCases) {
    for (const int threads : {1, 3}) {
      const auto map = one.make();
      Watch watch;
      Context context;
      context.threads = threads;
      context.progress = Watch::see;
      context.user = &watch;
      one.call(*map, context);
      // One thread sees every tile.
      if (!watch.sane || watch.total == 0 || watch.last != watch.total ||
          (threads == 1 && watch.values < 4))
        faults += std::string(one.name) + " at " + std::to_string(watch.last) + " of " +
                  std::to_string(watch.total) + " in " + std::to_string(watch.values) + "; ";
    }
  }
  CHECK(faults == "");
}

TEST_CASE("a map's call stops wherever it is asked to, and can be made again") {
  std::string faults;
  for (const Case& one : kCases) {
    for (const int64_t stop_at : {1, 2, 4}) {
      const auto map = one.make();
      Watch watch{.stop_at = stop_at};
      Context context;
      context.threads = 1;
      context.progress = Watch::see;
      context.user = &watch;
      if (test::refusal_fault(MERCER_CANCELLED, [&] { one.call(*map, context); }) != "")
        faults += std::string(one.name) + " at " + std::to_string(stop_at) + "; ";
      context.clear_cancelled();
      watch = {};
      one.call(*map, context);
      if (!watch.sane || watch.last != watch.total) faults += std::string(one.name) + " again; ";
    }
  }
  CHECK(faults == "");
}

}  // namespace progress_test
