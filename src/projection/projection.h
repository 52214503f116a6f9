// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Projections: rows x in R^d to P = xW, one block of columns and a few rows at a time, so that a
// block is still in cache when it is finished. F columns in all; the last block may be padded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/fields.h"
#include "base/views.h"
#include "random/distributions.h"
#include "random/points.h"

namespace mercer::projection {

/// The unit of P: turns (W over 2 pi, for angles), or plain.
enum class Unit { turns, plain };

/// The factor by which W is multiplied for a unit.
constexpr double factor_of(Unit unit) noexcept {
  return unit == Unit::turns ? 0.15915494309189533577 : 1.0;  // 1/(2 pi)
}

/// Blocks [begin, end) of columns.
struct Blocks {
  int64_t begin;
  int64_t end;
};

/// The sizes in which a projection is called in one precision.
struct BlockShape {
  int64_t columns;            // of a block: a multiple of transform::kPanelColumns<T>
  int64_t rows;               // most rows of a call of project, <= transform::kTileRows
  int64_t scratch;            // numbers that project needs beside P, 64-byte aligned
  int64_t transpose_scratch;  // numbers that project_transpose needs
};

/// A projection that reads sparse rows as they are, at a cost that follows their non-zeros.
class SparseProjection {
 public:
  virtual ~SparseProjection() = default;
  /// P as from Projection::project, of a block prepared there; the shape's limit of rows and
  /// scratch are the same. The bits of a row of P depend on its row of X as it is stored; values
  /// differ from those of the dense row by rounding only.
  virtual void project_sparse(const CsrView<float>& X, int64_t block, float* P,
                              float* scratch) const noexcept = 0;
  virtual void project_sparse(const CsrView<double>& X, int64_t block, double* P,
                              double* scratch) const noexcept = 0;
};

class Projection {
 public:
  virtual ~Projection() = default;
  int64_t inputs() const noexcept { return inputs_; }    // d
  int64_t outputs() const noexcept { return outputs_; }  // F

  /// The argument of type float or double tells the precision.
  virtual BlockShape shape(float) const noexcept = 0;
  virtual BlockShape shape(double) const noexcept = 0;

  /// Draws and packs what project needs for these blocks and this precision, once; thread-safe; may
  /// fail (memory, cancellation) and be retried. Other blocks are not drawn.
  virtual void prepare(Blocks blocks, float, Context& context) const = 0;
  virtual void prepare(Blocks blocks, double, Context& context) const = 0;

  /// P (X.rows x shape.columns, without gaps, 64-byte aligned) of a prepared block. The bits of a
  /// row of P depend on its row of X alone.
  virtual void project(MatrixView<const float> X, int64_t block, float* P,
                       float* scratch) const noexcept = 0;
  virtual void project(MatrixView<const double> X, int64_t block, double* P,
                       double* scratch) const noexcept = 0;

  /// The adjoint of project: X += G W', W the columns of a prepared block; G is X.rows x
  /// shape.columns like P, zero in columns past F, X is X.rows x d. At most shape.rows rows. The
  /// bits of what a row of X gets depend on its row of G alone. No overlap.
  virtual void project_transpose(const float* G, int64_t block, MatrixView<float> X,
                                 float* scratch) const noexcept = 0;
  virtual void project_transpose(const double* G, int64_t block, MatrixView<double> X,
                                 double* scratch) const noexcept = 0;

  /// omega_j of a projection in turns, j0 <= j < j0 + omega.rows: its columns times 2 pi, in double
  /// precision. Errors: OUT_OF_MEMORY, CANCELLED.
  virtual void frequencies(int64_t j0, Context& context, MatrixView<double> omega) const;

  /// Its interface for sparse rows; null: rows have to be made dense.
  virtual const SparseProjection* sparse() const noexcept { return nullptr; }

 protected:
  Projection(int64_t inputs, int64_t outputs) : inputs_(inputs), outputs_(outputs) {}

 private:
  int64_t inputs_;
  int64_t outputs_;
};

// A projection written once for both precisions: the functions of Projection for float and double
// call templates of the class itself.

/// What a projection keeps for either precision.
template <template <class> class Tables>
class PerPrecision {
 public:
  template <class... Arguments>
  explicit PerPrecision(const Arguments&... arguments)
      : single_(arguments...), double_(arguments...) {}
  template <class T>
  Tables<T>& of() noexcept {
    if constexpr (sizeof(T) == sizeof(float)) {
      return single_;
    } else {
      return double_;
    }
  }

 private:
  Tables<float> single_;
  Tables<double> double_;
};

/// Own: for T float and double, const members
///   template <class T> BlockShape shape_of() noexcept;
///   template <class T> void prepare_blocks(Blocks, Context&);
///   template <class T> void project_rows(const Rows&, int64_t block, T* P, T* scratch) noexcept;
///   template <class T> void add_rows(const T* G, int64_t block, MatrixView<T> X, T*) noexcept;
/// Rows are MatrixView<const T>, and CsrView<T> of a TypedSparseProjection.
template <class Own>
class TypedProjection : public Projection {
 public:
  BlockShape shape(float) const noexcept final { return own().template shape_of<float>(); }
  BlockShape shape(double) const noexcept final { return own().template shape_of<double>(); }
  void prepare(Blocks blocks, float, Context& context) const final {
    own().template prepare_blocks<float>(blocks, context);
  }
  void prepare(Blocks blocks, double, Context& context) const final {
    own().template prepare_blocks<double>(blocks, context);
  }
  void project(MatrixView<const float> X, int64_t block, float* P,
               float* scratch) const noexcept final {
    own().project_rows(X, block, P, scratch);
  }
  void project(MatrixView<const double> X, int64_t block, double* P,
               double* scratch) const noexcept final {
    own().project_rows(X, block, P, scratch);
  }
  void project_transpose(const float* G, int64_t block, MatrixView<float> X,
                         float* scratch) const noexcept final {
    own().add_rows(G, block, X, scratch);
  }
  void project_transpose(const double* G, int64_t block, MatrixView<double> X,
                         double* scratch) const noexcept final {
    own().add_rows(G, block, X, scratch);
  }

 protected:
  using Projection::Projection;
  const Own& own() const noexcept { return static_cast<const Own&>(*this); }
};

/// A projection that also reads sparse rows.
template <class Own>
class TypedSparseProjection : public TypedProjection<Own>, public SparseProjection {
 public:
  const SparseProjection* sparse() const noexcept final { return this; }
  void project_sparse(const CsrView<float>& X, int64_t block, float* P,
                      float* scratch) const noexcept final {
    this->own().project_rows(X, block, P, scratch);
  }
  void project_sparse(const CsrView<double>& X, int64_t block, double* P,
                      double* scratch) const noexcept final {
    this->own().project_rows(X, block, P, scratch);
  }

 protected:
  using TypedProjection<Own>::TypedProjection;
};

// Brings a column drawn at lengthscale 1 to the given lengthscale: divides coordinate k by
// lengthscale k.

/// lengthscale: empty (nothing to do), one number, or as many as omega has.
inline void divide_by_lengthscale(std::span<const double> lengthscale,
                                  std::span<double> omega) noexcept {
  if (lengthscale.empty()) return;
  for (size_t k = 0; k < omega.size(); ++k)
    omega[k] /= lengthscale[lengthscale.size() == 1 ? 0 : k];
}

// The projections of random matrices of a given distribution: one entry for each name in specs,
// defined in the file of its projection.

/// Row norms of structured blocks: drawn from the law, or all equal (laws with a fixed_radius).
enum class Radius { drawn, fixed };
inline constexpr const char* kRadii[] = {"drawn", "fixed"};
inline constexpr Choice<Radius> kRadius{
    "radius", kRadii, "norms of the columns of sorf and fastfood; fixed: normal spectra only"};

/// Randomisation of low-discrepancy points.
using random::Scramble;
inline constexpr const char* kScrambles[] = {"owen", "digital_shift"};
inline constexpr Choice<Scramble> kScramble{"scramble", kScrambles,
                                            "randomisation of sobol and halton points"};

struct ProjectionArguments {
  std::shared_ptr<const random::Law> law;
  std::vector<double>
      lengthscale;  // coordinate k of a column is divided by number k: none, one, or d
  Unit unit;
  int64_t d;
  int64_t F;
  uint64_t seed;
  Radius radius = Radius::drawn;
  Scramble scramble = Scramble::owen;
  std::string subject = "the matrix";  // whose distribution it is, in messages
};

/// What a projection can draw from.
enum class LawNeed {
  any,
  isotropic,
  product,
  isotropic_or_product,
  product_or_mixture,
  normal_mixture,  // isotropic, with a scale_quantile
  uniform_direction
};

/// The requirement in words, such as "isotropic laws".
const char* served_laws(LawNeed need) noexcept;

struct ProjectionEntry {
  const char* name;
  const char* help;
  LawNeed need = LawNeed::any;
  bool independent = false;  // the columns
  bool uses_radius = false;
  bool uses_scramble = false;
  /// Columns from a product distribution that is not isotropic are strongly correlated: the
  /// variance of i.i.d. columns does not apply.
  bool product_columns_correlate = false;
  int64_t (*block)(int64_t d) = nullptr;  // size of blocks of dependent columns; null: independent
  /// The weight of column j in an estimate; they add up to 1. Null: 1/F each.
  double (*share)(const ProjectionArguments&, int64_t j) = nullptr;
  /// ||omega_j||^2 of column j at lengthscale 1, computed without drawing its block; null: the
  /// block has to be drawn.
  double (*squared_norm)(const ProjectionArguments&, int64_t j) = nullptr;
  /// Makes the projection from arguments that make() has checked.
  std::unique_ptr<Projection> (*maker)(const ProjectionArguments&) = nullptr;

  /// Whether it can draw from this distribution.
  bool serves(const random::Law& law) const noexcept;
  /// UNSUPPORTED, naming option and projection, where an option that this one does not use has
  /// another value than its default.
  void check_options(Radius radius, Scramble scramble) const;
  /// Also UNSUPPORTED, naming projection and subject, if the distribution is of the wrong kind.
  std::unique_ptr<Projection> make(const ProjectionArguments& arguments) const;
};

std::span<const ProjectionEntry* const> projection_table();
/// The entry of that name; INVALID_ARGUMENT listing the names.
const ProjectionEntry& find_projection(std::string_view name);

// The entries: kNAME is in the file of its name, Sobol' and Halton points in low_discrepancy.cpp. A
// new projection is declared here and listed in projection.cpp.
extern const ProjectionEntry kDense, kOrthogonal, kSorf, kFastfood, kSobol, kHalton, kCirculant,
    kQuadrature, kSimplex;

}  // namespace mercer::projection
