// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The choice of rows that become the landmarks of a Nystroem map.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/parameters.h"
#include "base/views.h"
#include "feature/map_entry.h"
#include "kernel/kernel.h"

namespace mercer::feature {

/// The rows to choose from, all finite, as are the kernel's values with themselves.
struct LandmarkPool {
  const kernel::Kernel& kernel;
  MatrixView<const double> rows;
  uint64_t seed;
  Context& context;
};

/// D different rows of the pool, in any order. Distances are those of the kernel, k(x, x) + k(y, y)
/// - 2 k(x, y), so every kernel has them; D kernel values for each row. k-means++ seeding (Arthur,
/// Vassilvitskii 2007): each row is drawn with a probability proportional to its squared distance
/// from the rows drawn before.
std::vector<int64_t> kmeans_landmarks(const LandmarkPool& pool, int64_t D);
/// Each row is the one farthest from those before (Gonzalez 1985); the seed chooses the first.
std::vector<int64_t> farthest_landmarks(const LandmarkPool& pool, int64_t D);
/// Rows are drawn by approximate ridge leverage scores, without replacement (Musco, Musco 2017).
/// About 2 D kernel values for each row, and D^3 for each doubling of the sample.
std::vector<int64_t> leverage_landmarks(const LandmarkPool& pool, int64_t D);

/// Rows are drawn by what the earlier ones leave of k(x, x): randomly pivoted Cholesky; in the order
/// drawn. D kernel values and D^2 products for each row that is proposed, some for every one drawn
/// where the spectrum falls slowly, at most about all rows a few times; 8 D^2 bytes.
std::vector<int64_t> cholesky_landmarks(const LandmarkPool& pool, int64_t D);

/// `count` row indices, drawn without replacement, ascending.
std::vector<int64_t> uniform_rows(int64_t rows, int64_t count, uint64_t seed);
/// Those rows, dense; require_inputs() has passed all of them. Errors: INVALID_ARGUMENT (the kernel
/// of a row with itself is not finite), OUT_OF_MEMORY.
Matrix<double> copied_rows(const kernel::Kernel& kernel, const Rows& rows,
                           std::span<const int64_t> chosen, Context& context);

/// The names of choices, the default first.
std::vector<const char*> landmark_choices();
/// Whether the choice computes kernel values of a pool of rows.
bool landmarks_from_pool(std::string_view choice) noexcept;

/// As copied_rows, but sparse, each column stored once.
CsrRows stored_rows(const kernel::Kernel& kernel, const Rows& rows, std::span<const int64_t> chosen,
                    Context& context);

/// The ascending indices of D landmarks among the rows. uniform: without replacement. supplied: all
/// rows, in order, of which there have to be D. The others choose among at most max(16 D, 10000)
/// rows, drawn uniformly and made dense. Errors: those of copied_rows, INVALID_ARGUMENT (another
/// count of supplied ones), CANCELLED.
std::vector<int64_t> choose_landmarks(const std::string& choice, const kernel::Kernel& kernel,
                                      const Rows& rows, int64_t D, uint64_t seed, Context& context);

// Rows that a map keeps. They stay sparse if they come from sparse rows, so that kernel values cost
// what is stored.

class LandmarkRows {
 public:
  /// The chosen rows. Errors: those of copied_rows.
  LandmarkRows(const kernel::Kernel& kernel, const Rows& rows, std::span<const int64_t> chosen,
               Context& context);
  /// Reads what numbers() wrote, a.features rows of a.inputs. CORRUPT_FILE for anything else.
  explicit LandmarkRows(const MapArguments& a);

  Rows view() const;
  int64_t count() const { return view().rows(); }
  /// The sparse rows; null: they are dense.
  const CsrRows* stored() const noexcept { return std::get_if<CsrRows>(&rows_); }
  /// The dense rows; without data if they are sparse.
  MatrixView<const double> dense() const noexcept;
  std::vector<NumberArray> numbers() const;

 private:
  std::variant<Matrix<double>, CsrRows> rows_;
};

/// A rows x cols matrix of finite numbers from a file.
Matrix<double> matrix_from(const std::vector<double>& values, int64_t rows, int64_t cols);

}  // namespace mercer::feature
