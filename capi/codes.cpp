// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/codes.h.
#include "mercer/codes.h"

#include <string>
#include <unordered_map>

#include "arguments.h"
#include "feature/binary_codes.h"
#include "guard.h"
#include "handles.h"
#include "model/outputs/outputs.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr int64_t kMostWords = (int64_t{1} << 25) - 1;  // distances are of 32 bits, with a sign

/// The value of the kernel, 1 at distance 0, whose mean share of bits that is.
double kernel_of_share(const kernel::Kernel& k, double share) {
  if (k.traits().is_gaussian) return feature::gaussian_from_code_share(share);
  const double zero = 0, one = 1;  // on the first axis, in lengthscales of it
  return feature::profile_from_code_share(
      [&](double t) { return k.value_at_multiple(t, 1, &one, &zero) / k.value_at_zero(); }, share);
}

}  // namespace

mercer_status mercer_map_codes(const mercer_map* map, mercer_rows X, int64_t words,
                               mercer_context* context, uint64_t* codes) {
  return guard_long("mercer_map_codes", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const auto rows = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    require(words == feature::code_words(phi.features()), MERCER_DIMENSION_MISMATCH,
            "words = %ld, expected %ld, those of the map's %ld features", words,
            feature::code_words(phi.features()), phi.features());
    const auto result = matrix("codes", codes, "X.n", rows.n(), words, "words", words);
    check_apart(result.extent(), rows);
    feature::binary_codes(phi, rows, running, codes);
  });
}

mercer_status mercer_codes_hamming(int64_t words, int64_t n, const uint64_t* A, int64_t m,
                                   const uint64_t* B, mercer_context* context, int32_t* distances) {
  return guard_long("mercer_codes_hamming", context, [&](Context& running) {
    check_range("words", words, 1, kMostWords);
    const auto a = matrix("A", A, "n", n, words, "words", words);
    const auto b = matrix("B", B, "m", m, words, "words", words);
    const auto result = matrix("distances", distances, "n", n, m, "m", m);
    check_no_overlap(result, a, b);
    feature::code_distances(words, n, A, m, B, running, distances);
  });
}

mercer_status mercer_simplex_code(mercer_matrix code) {
  return guard("mercer_simplex_code", [&] {
    Context context;
    const Result result("code", code, code.rows, code.cols, context);
    model::simplex_code(result.view());
    result.finish();
  });
}

mercer_status mercer_codes_kernel(const mercer_kernel* kernel, int64_t bits, int64_t count,
                                  const int32_t* distances, double* values) {
  return guard("mercer_codes_kernel", [&] {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    const random::Law* const law = k.spectral_law();
    require((law != nullptr && law->isotropic()) || k.traits().falls_with_magnitudes,
            MERCER_UNSUPPORTED,
            "the share of bits is no function of kernel %s alone, expected one that falls with a "
            "norm of x - y: gaussian, laplacian, matern, rational_quadratic, "
            "generalized_gaussian_spectrum of order 1, or sums and products with isotropic "
            "distributions",
            std::string(k.name()).c_str());
    check_range("bits", bits, 1, INT32_MAX);
    const auto given = vector("distances", distances, "count", count);
    const auto result = vector("values", values, "count", count);
    check_no_overlap(result, given);
    for (const int32_t& distance : given.values()) {
      require(distance >= 0 && distance <= bits, MERCER_INVALID_ARGUMENT,
              "distances[%td] = %d, expected 0 to bits = %ld", &distance - distances, distance,
              bits);
    }
    std::unordered_map<int32_t, double> known;  // distances repeat
    for (int64_t i = 0; i < count; ++i) {
      const auto [found, added] = known.try_emplace(distances[i]);
      if (added) {
        const double share = static_cast<double>(distances[i]) / static_cast<double>(bits);
        found->second = k.value_at_zero() * kernel_of_share(k, share);
      }
      values[i] = found->second;
    }
  });
}
