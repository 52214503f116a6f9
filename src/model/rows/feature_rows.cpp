// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Streams prepared rows through a feature map in blocks of bounded size.
#include "model/rows/feature_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/feature_map.h"
#include "feature/grid_sums.h"
#include "linalg/blas.h"
#include "model/prepare/row_coding.h"

namespace mercer::model {
namespace {

// 4096 rows keep dsyrk at its best rate for small D, 256 do for large. A block is small beside the
// 8 D^2 bytes of a Gram matrix: 512 rows of 4096 features in single precision are 8 MiB.
constexpr int64_t kMostRows = 4096;
constexpr int64_t kLeastBlock = 256;
constexpr int64_t kBlockBytes = int64_t{8} << 20;
constexpr int64_t kRowsPerChunk = 64;
constexpr const char* kGathered = "a block of sparse rows";

}  // namespace

int64_t block_rows(int64_t inputs, int64_t features) {
  const int64_t numbers = checked_add(inputs, features, "block");
  const int64_t fitting = kBlockBytes / checked_multiply(sizeof(float), numbers, "block");
  return std::clamp(fitting, kLeastBlock, kMostRows);
}

FeatureRows::FeatureRows(const feature::FeatureMap& map, const Preparation& preparation,
                         const TargetOptions& coding, feature::Precision precision,
                         const TargetedRows& rows, std::vector<int64_t> made_of)
    : map_(map.scalar()),
      preparation_(preparation),
      coding_(coding),
      precision_(map_.has_kernel_columns() ? feature::Precision::f64 : precision),
      data_(rows),
      made_of_(std::move(made_of)),
      stays_sparse_(rows.X.sparse() && !preparation.centers()),
      set_(rows.X.rows()) {
  constexpr double kMostSingle = 1e60;  // features are its root, over the root of their number
  const double unit = map.kernel().value_at_zero();
  require(precision_ == feature::Precision::f64 || !(unit > kMostSingle || unit < 1 / kMostSingle),
          MERCER_INVALID_ARGUMENT,
          "precision = \"f32\" of a kernel with k(0, 0) = %g, expected \"f64\", or a variance from "
          "%g to %g",
          unit, 1 / kMostSingle, kMostSingle);
}

std::vector<double> FeatureRows::classes() const {
  std::vector<double> classes;
  if (coding_.task != Task::classification || data_.Y.cols == 0) return classes;
  for (int64_t i = 0; i < set_.count; ++i) classes.push_back(data_.Y(set_[i], 0));
  return classes;
}

std::vector<double> FeatureRows::groups() const {
  std::vector<double> groups;
  for (int64_t i = 0; i < set_.count && !data_.groups.empty(); ++i)
    groups.push_back(data_.groups[set_[i]]);
  return groups;
}

bool FeatureRows::is_complete() const {
  return coding_.task == Task::classification || model::is_complete(data_.Y, set_);
}

std::optional<std::vector<int64_t>> FeatureRows::kernel_columns() const {
  if (!map_.has_kernel_columns()) return std::nullopt;
  std::vector<int64_t> columns;
  for (int64_t i = 0; i < set_.count; ++i) {
    const auto own = std::ranges::lower_bound(made_of_, set_[i]);
    require(own != made_of_.end() && *own == set_[i], MERCER_UNSUPPORTED,
            "a fit on a map exact that was made before, expected it to be named in the spec of the "
            "fit, which makes it of its own rows");
    columns.push_back(own - made_of_.begin());
  }
  return columns;
}

void FeatureRows::for_each_target(Context& context, const TargetBody& body) const {
  const int64_t size = block_rows();
  const Matrix<double> Y(size, outputs(), context, "a block of targets");
  std::vector<double> weights;
  for (int64_t first = 0; first < rows(); first += size) {
    const auto block = Y.view().block_rows(0, std::min(size, rows() - first));
    load_targets(first, block);
    body(block, load_weights(first, block.rows, weights));
  }
}

FeatureRows FeatureRows::chosen(RowSet rows) const {
  FeatureRows part = under(map_);
  part.set_ = set_.choose(rows);
  return part;
}

FeatureRows FeatureRows::under(const feature::FeatureMap& map) const {
  FeatureRows same(map, preparation_, coding_, precision_, data_, made_of_);
  same.set_ = set_.choose(RowSet(set_.count));
  same.real_parts_ = real_parts_;
  return same;
}

std::unique_ptr<solver::BlockSource> FeatureRows::input_rows() const {
  auto rows = std::make_unique<FeatureRows>(chosen(RowSet(set_.count)));
  rows->coding_.targets = Targets::inputs;
  return rows;
}

std::optional<solver::FactoredRows> FeatureRows::factored() const {
  const auto [left, right, in_double] = map_.factors();
  if (left == nullptr) return std::nullopt;
  auto rows = std::make_unique<FeatureRows>(
      *left, preparation_, coding_, in_double ? feature::Precision::f64 : precision_, data_);
  rows->set_ = set_.choose(RowSet(set_.count));
  return solver::FactoredRows{std::move(rows), right};
}

int64_t FeatureRows::block_rows() const {
  const int64_t most = model::block_rows(stays_sparse_ ? 0 : inputs(), features());
  return std::min(most, rows());
}

/// Rows are prepared in double and rounded once. Sparse rows stay sparse unless centred.
template <class U>
class FeatureRows::Inputs {
 public:
  Inputs(const FeatureRows& of, int64_t size, Context& context)
      : of_(of), indices_(context, kGathered), values_(context, kGathered) {
    if (!of.stays_sparse_) dense_ = Matrix<U>(size, of.inputs(), context, "a block of inputs");
    if (!of.data_.X.sparse() || gathers_stored()) return;
    const int64_t chunks = ceil_divide(size, kRowsPerChunk);
    const int64_t workers = of.stays_sparse_ ? 1 : worker_count(context, chunks);
    sums_ = Matrix<double>(workers, of.data_.X.cols(), context, "sums of sparse rows");
    sums_.fill(0);
  }

  /// Features of rows [first, first + Z.rows) of the set; Z has no gaps between rows.
  void map(RowSet rows, int64_t first, Context& context, MatrixView<U> Z) {
    const int64_t p = of_.map_.outputs();
    const MatrixView<U> lines(Z.data, Z.rows * p, Z.cols / p);
    if (of_.stays_sparse_) {
      gather(rows, first, Z.rows);
      const CsrView<U> X{Z.rows, of_.inputs(), offsets_.data(), indices_.data(), values_.data()};
      return of_.map_.apply(X, {0, of_.map_.features()}, context, lines);
    }
    const MatrixView<U> X = dense_.view().block_rows(0, Z.rows);
    load(rows, first, context, X);
    of_.map_.apply(MatrixView<const U>(X), {0, of_.map_.features()}, context, lines);
  }

 private:
  void load(RowSet rows, int64_t first, Context& context, MatrixView<U> inputs) const {
    const int64_t chunks = ceil_divide(inputs.rows, kRowsPerChunk);
    of_.data_.X.visit([&](const auto& X) {
      parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
        double* sums = sums_.rows() == 0 ? nullptr : sums_.view().row(worker);
        const int64_t end = std::min(inputs.rows, (chunk + 1) * kRowsPerChunk);
        for (int64_t i = chunk * kRowsPerChunk; i < end; ++i)
          prepare_row(of_.preparation_, X, rows[first + i], sums, inputs.row(i));
      });
    });
  }

  /// Scaling alone: duplicate entries may stay.
  bool gathers_stored() const { return of_.stays_sparse_ && of_.preparation_.is_affine(); }

  template <class T, class List>
  void gather_row(const CsrView<T>& X, int64_t i, const List& list) {
    const Preparation& by = of_.preparation_;
    if (!gathers_stored()) return for_each_prepared(by, X, i, sums_.data(), list);
    for_each_stored(
        X, i, [&](int64_t j, T x) { list(j, prepared_number(by, j, static_cast<double>(x))); });
  }

  void gather(RowSet rows, int64_t first, int64_t count) {
    offsets_.assign(1, 0);
    indices_.shrink(0);
    values_.shrink(0);
    of_.data_.X.visit([&](const auto& X) {
      if constexpr (kIsSparse<decltype(X)>) {
        const auto list = [&](int64_t j, double x) {
          indices_.push_back(j);
          values_.push_back(static_cast<U>(x));
        };
        for (int64_t i = 0; i < count; ++i) {
          gather_row(X, rows[first + i], list);
          offsets_.push_back(indices_.size());
        }
      }
    });
  }

  const FeatureRows& of_;
  Matrix<U> dense_;
  Matrix<double> sums_;  // a row per worker
  std::vector<int64_t> offsets_;
  GrowingBuffer<int64_t> indices_;
  GrowingBuffer<U> values_;
};

void FeatureRows::load_targets(int64_t first, MatrixView<double> codes) const {
  if (coding_.targets == Targets::inputs) return load_inputs(first, codes);
  if (data_.Y.cols == 0) return;
  for (int64_t i = 0; i < codes.rows; ++i) {
    code_target(coding_, preparation_, data_.Y.cols, data_.Y.row(set_[first + i]), codes.row(i));
  }
}

void FeatureRows::load_inputs(int64_t first, MatrixView<double> prepared) const {
  data_.X.visit([&](const auto& X) {
    std::vector<double> sums(data_.X.sparse() ? static_cast<size_t>(X.cols) : 0, 0.0);
    for (int64_t i = 0; i < prepared.rows; ++i)
      prepare_row(preparation_, X, set_[first + i], sums.data(), prepared.row(i));
  });
}

std::span<const double> FeatureRows::load_weights(int64_t first, int64_t count,
                                                  std::vector<double>& storage) const {
  storage.clear();
  for (int64_t i = 0; i < count && !data_.weights.empty(); ++i)
    storage.push_back(data_.weights[set_[first + i]]);
  return storage;
}

template <class U>
void FeatureRows::stream(Context& context, const Body& body) const {
  const int64_t size = block_rows();
  Inputs<U> inputs(*this, size, context);
  const Matrix<U> Z(size, features(), context, "a block of features");
  const bool has_targets = data_.Y.cols > 0 || coding_.targets == Targets::inputs;
  const Matrix<double> Y(size, has_targets ? outputs() : 0, context, "a block of targets");
  std::vector<double> weights;
  for (int64_t first = 0; first < rows(); first += size) {
    context.checkpoint();
    const int64_t count = std::min(size, rows() - first);
    const auto Zb = Z.view().block_rows(0, count);
    const auto Yb = Y.view().block_rows(0, count);
    load_targets(first, Yb);
    inputs.map(set_, first, context, Zb);
    solver::FeatureBlock block{first, {}, {}, Yb, load_weights(first, count, weights)};
    if constexpr (std::is_same_v<U, float>) {
      block.Z32 = Zb;
    } else {
      block.Z64 = Zb;
    }
    body(block);
  }
}

void FeatureRows::for_each(Context& context, const Body& body) const {
  if (precision_ == feature::Precision::f32) {
    stream<float>(context, body);
  } else {
    stream<double>(context, body);
  }
}

InputRows::InputRows(const Preparation& preparation, const TargetOptions& coding,
                     const TargetedRows& rows)
    : preparation_(preparation), coding_(coding), data_(rows), set_(rows.X.rows()) {}

int64_t InputRows::outputs() const { return coded_outputs(coding_, data_.Y.cols); }

int64_t InputRows::block_rows() const { return std::min(model::block_rows(0, features()), rows()); }

bool InputRows::is_complete() const {
  return coding_.task == Task::classification || model::is_complete(data_.Y, set_);
}

std::unique_ptr<solver::BlockSource> InputRows::subset(solver::RowSet rows) const {
  auto part = std::make_unique<InputRows>(preparation_, coding_, data_);
  part->set_ = set_.choose(rows);
  return part;
}

void InputRows::for_each(Context& context, const Body& body) const {
  const int64_t size = block_rows();
  const Matrix<double> Z(size, features(), context, "a block of inputs");
  const Matrix<double> Y(size, outputs(), context, "a block of targets");
  std::vector<double> weights;
  for (int64_t first = 0; first < rows(); first += size) {
    context.checkpoint();
    const int64_t count = std::min(size, rows() - first);
    data_.X.visit([&](const auto& X) {
      for (int64_t i = 0; i < count; ++i)
        prepare_row(preparation_, X, set_[first + i], Z.view().row(i));
    });
    for (int64_t i = 0; i < count; ++i)
      code_target(coding_, preparation_, data_.Y.cols, data_.Y.row(set_[first + i]),
                  Y.view().row(i));
    weights.clear();
    for (int64_t i = 0; i < count && !data_.weights.empty(); ++i)
      weights.push_back(data_.weights[set_[first + i]]);
    body({first, {}, Z.view().block_rows(0, count), Y.view().block_rows(0, count), weights});
  }
}

// All sets of coefficients are columns of one matrix, so that a block of features is multiplied
// once.

namespace {

Matrix<double> side_by_side(std::span<const solver::Weights> weights, Context& context) {
  const int64_t outputs = weights[0].w.cols();
  Matrix<double> all(weights[0].w.rows(), outputs * std::ssize(weights), context,
                     "weights side by side");
  for (int64_t j = 0; j < all.rows(); ++j) {
    double* to = all.view().row(j);
    for (const solver::Weights& one : weights) {
      to = std::copy_n(one.w.view().row(j), outputs, to);
    }
  }
  return all;
}

}  // namespace

void for_each_scored(const solver::BlockSource& rows, std::span<const solver::Weights> weights,
                     Context& context, const ScoredRow& body) {
  const bool by_output = weights[0].by_output();
  const Matrix<double> W = by_output ? Matrix<double>() : side_by_side(weights, context);
  const int64_t p = weights[0].outputs(), columns = p * std::ssize(weights);
  const auto score = [&](const solver::WideBlock& block, MatrixView<double> S) {
    for (int64_t i = 0; i < S.rows; ++i) {
      double* to = S.row(i);
      for (const auto& one : weights)
        for (const double intercept : one.intercept) *to++ += by_output ? 0.0 : intercept;
      body(block.first + i, block.Y.row(i), block.weight(i), S.row(i));
    }
  };
  if (!by_output && rows.for_each_product(W.view(), context, score)) return;
  const Matrix<double> scores(rows.block_rows(), columns, context, "a block of scores");
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const auto S = scores.view().block_rows(0, block.Z.rows);
    for (int64_t k = 0; k < columns && by_output; k += p)
      solver::linear_scores(weights[k / p], block.Z, S.block_cols(k, k + p));
    if (!by_output)
      linalg::multiply(1.0, linalg::Transpose::no, block.Z, linalg::Transpose::no, W.view(), 0.0,
                       S);
    score(block, S);
  });
}

// Rows as they are, for sums and scores that need no features.

namespace {

constexpr int64_t kBlock = 4 * feature::GridSums::kRows;
constexpr int64_t kBlockNumbers = int64_t{1} << 21;

int64_t rows_of_block(int64_t inputs, int64_t rows) {
  return std::min(rows, std::min(kBlock, kBlockNumbers / inputs));
}

}  // namespace

/// Prepared rows [first, first + X.rows). Entries are the numbers that the features of these rows
/// are computed from, bit for bit.
void FeatureRows::load_exact_inputs(int64_t first, MatrixView<double> X) const {
  load_inputs(first, X);
  if (map_.sparse_features() == nullptr || precision_ != feature::Precision::f32) return;
  for (int64_t i = 0; i < X.rows; ++i)
    for (int64_t j = 0; j < X.cols; ++j) X(i, j) = static_cast<double>(static_cast<float>(X(i, j)));
}

template <class Use>
void FeatureRows::for_each_inputs(Context& context, const solver::RowsDone& done,
                                  const Use& use) const {
  const int64_t size = rows_of_block(inputs(), rows());
  const Matrix<double> X(size, inputs(), context, "a block of inputs");
  const bool has_targets = data_.Y.cols > 0 || coding_.targets == Targets::inputs;
  const Matrix<double> Y(size, has_targets ? outputs() : 0, context, "a block of targets");
  std::vector<double> weights;
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t count = std::min(size, rows() - first);
    const auto x = X.view().block_rows(0, count), y = Y.view().block_rows(0, count);
    load_weights(first, count, weights);
    const auto load = [&](int64_t begin, int64_t end) {
      load_exact_inputs(first + begin, x.block_rows(begin, end));
      load_targets(first + begin, y.block_rows(begin, end));
    };
    if (data_.X.sparse()) {
      load(0, count);
    } else {
      parallel_for(context, ceil_divide(count, kRowsPerChunk), [&](int64_t chunk, int) noexcept {
        load(chunk * kRowsPerChunk, std::min(count, (chunk + 1) * kRowsPerChunk));
      });
    }
    use(x, y, weights);
    if (done) done(count);
  }
}

void FeatureRows::add_to(DirectSums& sums, Context& context, const solver::RowsDone& done,
                         const Weigh& weigh) const {
  for_each_inputs(context, done,
                  [&](MatrixView<double> x, MatrixView<double> y, std::vector<double>& weights) {
                    if (weigh) weigh(y, weights);
                    sums.add(x, y, weights, context);
                  });
}

void FeatureRows::add_to(NormalGrid& sums, Context& context, const solver::RowsDone& done) const {
  for_each_inputs(context, done,
                  [&](MatrixView<double> x, MatrixView<double> y, std::vector<double>& weights) {
                    sums.add(x, y, weights, context);
                  });
}

std::unique_ptr<solver::NormalSums> FeatureRows::normal_sums(Context& context,
                                                             const solver::RowsDone& done) const {
  if (!NormalGrid::serves(map_)) return nullptr;
  NormalGrid sums(map_, outputs(), context);
  add_to(sums, context, done);
  return sums.finish(*this, context);
}

bool FeatureRows::add_to(solver::RowStatistics& statistics, Context& context,
                         const solver::RowsDone& done, const Weigh& weigh) const {
  if (!DirectSums::pays(map_)) return false;
  DirectSums sums(map_, statistics.outputs(), context);
  add_to(sums, context, done, weigh);
  sums.finish(context, statistics);
  return true;
}

/// The numbers that features of this precision hold.
std::optional<solver::FeatureEntries> FeatureRows::entries(Context& context) const {
  if (inputs() > DirectSums::kMostInputs || !feature::entry_pairs_pay(map_)) return std::nullopt;
  constexpr const char* kWhat = "entries of all rows";
  const int64_t P = map_.sparse_features()->entries(), size = rows_of_block(inputs(), rows());
  if (!context.has_room(checked_multiply(12, checked_multiply(rows() + 2 * size, P, kWhat), kWhat)))
    return std::nullopt;
  solver::FeatureEntries all{{P, rows(), context, kWhat}, {P, rows(), context, kWhat}, {}};
  const Matrix<double> X(size, inputs(), context, kWhat), values(size, P, context, kWhat);
  const Matrix<int64_t> columns(size, P, context, kWhat);
  std::vector<double> weights;
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t count = std::min(size, rows() - first);
    const auto x = X.view().block_rows(0, count);
    load_exact_inputs(first, x);
    feature::list_entries(map_, MatrixView<const double>(x), context,
                          columns.view().block_rows(0, count), values.view().block_rows(0, count));
    for (int64_t e = 0; e < P; ++e)
      for (int64_t i = 0; i < count; ++i) {
        all.columns(e, first + i) = static_cast<int32_t>(columns(i, e));
        const bool single = precision_ == feature::Precision::f32;
        all.values(e, first + i) = single ? static_cast<float>(values(i, e)) : values(i, e);
      }
    const auto own = load_weights(first, count, weights);
    all.weights.insert(all.weights.end(), own.begin(), own.end());
  }
  return all;
}

bool FeatureRows::for_each_product(MatrixView<const double> W, Context& context,
                                   const ProductBody& body) const {
  if (!DirectProducts::pays(map_, W.cols)) return false;
  for_each_product(DirectProducts(map_, W, context), 0, context, body);
  return true;
}

void FeatureRows::for_each_product(const DirectProducts& products, int64_t begin, Context& context,
                                   const ProductBody& body) const {
  const Matrix<double> scores(rows_of_block(inputs(), rows()), products.columns(), context,
                              "a block of scores");
  for_each_inputs(context, {},
                  [&](MatrixView<double> x, MatrixView<double> y, std::vector<double>& weights) {
                    const auto out = scores.view().block_rows(0, x.rows);
                    products.multiply(x, context, out);
                    body({begin, {nullptr, x.rows, 0}, y, weights}, out);
                    begin += x.rows;
                  });
}

}  // namespace mercer::model
