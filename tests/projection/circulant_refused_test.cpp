// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Without FFTW: what is refused, with the reason, and what is there.
#include "feature/fourier.h"
#include "projection/sketch_kind.h"
#include "support/kernels.h"
#include "support/refusal.h"

namespace circulant_refused_test {
using namespace mercer;
using namespace mercer::feature;
using namespace mercer::projection;

TEST_CASE(
    "without FFTW: circulant is refused, with the reason, in every form and for every kernel") {
  FourierOptions options;
  options.projection = "circulant";
  const auto gaussian = kernel::make_gaussian({1.0}, 1.0);
  const auto laplacian = kernel::make_laplacian({1.0}, 1.0);
  for (const kernel::Kernel* kernel : {gaussian.get(), laplacian.get()}) {
    for (const FourierForm form : {FourierForm::pair, FourierForm::phase, FourierForm::complex}) {
      options.form = form;
      CHECK_REFUSED(MERCER_UNSUPPORTED, make_fourier(*kernel, 5, 64, options), "circulant",
                    "lacks FFTW");
    }
  }
}

TEST_CASE("without FFTW: the other projections are there") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  for (const projection::ProjectionEntry* entry : projection::projection_table()) {
    if (std::string(entry->name) == "circulant") continue;
    FourierOptions options;
    options.projection = entry->name;
    Matrix<double> X(1, 5), Z(1, 64);
    X.fill(0.3);
    Context context;
    make_fourier(*kernel, 5, 64, options)
        ->apply(MatrixView<const double>(X.view()), {0, 64}, context, Z.view());
    double squares = 0;
    for (int64_t j = 0; j < 64; ++j) squares += Z(0, j) * Z(0, j);
    CAPTURE(entry->name);
    CHECK(std::fabs(squares - 1) <= 1e-12);  // cos^2 + sin^2, whatever the frequencies
  }
}

TEST_CASE("without FFTW: tensor_sketch is refused, with the reason") {
  for (const bool complex : {false, true}) {
    const SketchShape shape = {sketch_kind("tensor_sketch"), complex, {{4}, {4}}, 8, 1};
    CHECK_REFUSED(MERCER_UNSUPPORTED, make_tensor_sketch(shape), "tensor_sketch", "lacks FFTW");
  }
}

}  // namespace circulant_refused_test
