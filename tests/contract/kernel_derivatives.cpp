// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of every kernel that says it has them, against difference quotients of those of one
// order less, in either argument; the gradient against those of order 1.
#include "contract/cells.h"
#include "spec/json.h"

using namespace mercer;
using namespace mercer::test;

namespace {

using kernel::MultiIndex;

double at(const kernel::Kernel& kernel, const MultiIndex& p, const MultiIndex& q,
          const std::vector<double>& x, const std::vector<double>& y) {
  return kernel.differential(p, q)->at(std::ssize(x), x.data(), y.data());
}

struct Step {
  MultiIndex p;
  MultiIndex q;
  bool in_y;
  int64_t input;  // one order more of it
};

MultiIndex above(const MultiIndex& p, int64_t input) { return kernel::sum_of(p, {{input, 1}}); }

}  // namespace

TEST_CASE("contract: kernel derivatives are difference quotients of those below", "[contract]") {
  size_t kernels = 0;
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = kernel::make_kernel(spec::parse_object(row.spec));
    const int64_t d = std::max<int64_t>(3, row.least_inputs), most = kernel->most_derivatives();
    if (most == 0) continue;
    ++kernels;
    INFO(row.spec);
    const Matrix<double> X = rows_for(row, 2, d, 5);
    const std::vector<double> x(X.view().row(0), X.view().row(0) + d),
        y(X.view().row(1), X.view().row(1) + d);
    CHECK(at(*kernel, {}, {}, x, y) == Approx(kernel->value(d, x.data(), y.data())).epsilon(1e-14));
    const Step steps[] = {{{}, {}, false, 0},
                          {{}, {}, true, 1},
                          {{{0, 1}}, {}, false, 0},
                          {{{0, 1}}, {}, true, 0},
                          {{}, {{1, 1}}, true, 1},
                          {{{0, 1}}, {{1, 1}}, false, 1},
                          {{{0, 1}, {1, 1}}, {{0, 1}}, true, 1}};
    for (const Step& step : steps) {
      if (total_order(step.p) + total_order(step.q) >= most) continue;
      const MultiIndex p = step.in_y ? step.p : above(step.p, step.input);
      const MultiIndex q = step.in_y ? above(step.q, step.input) : step.q;
      const double h = 1e-4, slope = at(*kernel, p, q, x, y);
      const auto moved = [&](double by) {
        auto u = x, v = y;
        (step.in_y ? v : u)[static_cast<size_t>(step.input)] += by;
        return at(*kernel, step.p, step.q, u, v);
      };
      // Of order 4 (Richardson): an error of h^4 times the fifth derivative, and rounding.
      const double quotient =
          (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
      CHECK(std::fabs(quotient - slope) <=
            1e-9 * std::max({std::fabs(slope), std::fabs(moved(0)), 1.0}));
    }
    std::vector<double> gradient(static_cast<size_t>(d), 0.5);
    kernel->add_gradient(3, d, x.data(), y.data(), gradient.data());
    for (int64_t k = 0; k < d; ++k)
      CHECK(gradient[static_cast<size_t>(k)] ==
            Approx(0.5 + 3 * at(*kernel, {{k, 1}}, {}, x, y)).epsilon(1e-13));
  }
  CHECK(kernels >= 12);
}
