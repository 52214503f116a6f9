// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Calls that are stopped or have no memory: the status says so, and the map then works as if they
// had not been. variance() refuses or says a number.
#include "contract/cells.h"

namespace contexts {
using namespace mercer;
using namespace mercer::test;

struct Call {
  Call(const Cell& cell, const Matrix<float>& X, int64_t D)
      : rows(X), map(cell.make(X.cols(), D, 3)), Z(X.rows(), map->row_length()) {}
  void operator()(Context& context) { rows.apply(*map, {0, map->features()}, context, Z.view()); }
  Input<float> rows;
  std::unique_ptr<FeatureMap> map;
  Matrix<float> Z;
};

int32_t stop(void*, int64_t, int64_t) { return 1; }

TEST_CASE("contract: stopped calls and caps leave a map that works") {
  for (const Cell& cell : made_cells()) {
    const int64_t d = kInputs, D = *cell.features(d, 34);
    const Matrix<float> X = converted<float>(rows_for(cell.row(), 40, d, 4));
    const Matrix<float> expected = features_of(*cell.make(d, D, 3), X);
    INFO(cell.label());
    Call call(cell, X, D);
    Context capped;
    capped.memory_cap = 1;
    CHECK_REFUSED(MERCER_OUT_OF_MEMORY, call(capped), "memory_cap = 1", "bytes");
    Context cancelled;
    cancelled.cancel();
    CHECK_REFUSED(MERCER_CANCELLED, call(cancelled));
    Context stopped;
    stopped.progress = stop;
    CHECK_REFUSED(MERCER_CANCELLED, call(stopped));
    Context free;
    call(free);
    CHECK(equal_bytes(call.Z, expected));
  }
}

TEST_CASE("contract: preparing ahead changes nothing, can be stopped and repeated") {
  for (const Cell& cell : made_cells()) {
    const int64_t d = kInputs, D = *cell.features(d, 34);
    const Matrix<float> X = converted<float>(rows_for(cell.row(), 3, d, 4));
    const auto map = cell.make(d, D, 3);
    INFO(cell.label());
    for (const auto precision : {feature::Precision::f32, feature::Precision::f64}) {
      Context cancelled;
      cancelled.cancel();
      const Outcome result = outcome([&] { map->prepare(precision, cancelled); });
      CHECK((result.status == MERCER_CANCELLED || result.status == MERCER_OK));
      Context context;
      map->prepare(precision, context);
      map->prepare(precision, context);
    }
    CHECK(equal_bytes(features_of(*map, X), features_of(*cell.make(d, D, 3), X)));
  }
}

TEST_CASE("contract: variances are refused or finite and not negative") {
  int64_t closed = 0;
  for (const Cell& cell : made_cells()) {
    for (const int64_t asked : {1, 5, 16}) {
      const int64_t d = cell.inputs(asked);
      const std::optional<int64_t> D = cell.features(d, 20);
      if (!D) continue;
      const auto map = cell.make(d, *D, 3);
      const Matrix<double> X = rows_for(cell.row(), 30, d, 4), Y = rows_for(cell.row(), 30, d, 5);
      INFO(cell.label() << ", d = " << d);
      for (const Matrix<double>* other : {&X, &Y}) {
        std::vector<double> variance(30), pseudo(30);
        const Outcome result = outcome([&] { map->variance(X.view(), other->view(), variance); });
        const Outcome second =
            outcome([&] { map->pseudo_variance(X.view(), other->view(), pseudo); });
        CHECK((result.status == MERCER_OK || result.status == MERCER_UNSUPPORTED));
        CHECK(second.status == result.status);
        if (result.status != MERCER_OK) continue;
        ++closed;
        for (size_t i = 0; i < variance.size(); ++i) {
          // Rounding of a variance that is zero: k^2 is subtracted.
          const double k = cell.kernel().value(d, X.view().row(static_cast<int64_t>(i)),
                                               other->view().row(static_cast<int64_t>(i)));
          CHECK(std::isfinite(variance[i]));
          CHECK(variance[i] >= -1e-13 * k * k);
          CHECK(std::isfinite(pseudo[i]));
          if (!map->is_complex()) CHECK(pseudo[i] == variance[i]);
        }
      }
    }
  }
  CHECK(closed > 0);
}

}  // namespace contexts
