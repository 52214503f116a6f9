// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Streams standardised rows through a feature map in blocks of bounded size.
#include "model/rows/feature_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
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
                         const Coding& coding, feature::Precision precision,
                         const TargetedRows& rows, std::vector<int64_t> made_of)
    : map_(map.scalar()),
      preparation_(preparation),
      coding_(coding),
      precision_(map_.has_kernel_columns() ? feature::Precision::f64 : precision),
      data_(rows),
      made_of_(std::move(made_of)),
      stays_sparse_(rows.X.sparse() && !preparation.centres()),
      set_(rows.X.rows()) {}

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
  FeatureRows part(map_, preparation_, coding_, precision_, data_, made_of_);
  part.set_ = set_.choose(rows);
  return part;
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
    if (!of.data_.X.sparse() || gathers_listed()) return;
    const int64_t chunks = ceil_divide(size, kRowsPerChunk);
    const int64_t workers = of.stays_sparse_ ? 1 : worker_count(context, chunks);
    sums_ = Matrix<double>(workers, of.data_.X.cols(), context, "sums of sparse rows");
    sums_.fill(0);
  }

  /// Features of rows [first, first + Z.rows) of the set.
  void map(RowSet rows, int64_t first, Context& context, MatrixView<U> Z) {
    if (of_.stays_sparse_) {
      gather(rows, first, Z.rows);
      const CsrView<U> X{Z.rows, of_.inputs(), offsets_.data(), indices_.data(), values_.data()};
      return of_.map_.apply(X, {0, of_.map_.features()}, context, Z);
    }
    const MatrixView<U> X = dense_.view().block_rows(0, Z.rows);
    load(rows, first, context, X);
    of_.map_.apply(MatrixView<const U>(X), {0, of_.map_.features()}, context, Z);
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
  bool gathers_listed() const { return of_.stays_sparse_ && of_.preparation_.is_affine(); }

  template <class T, class List>
  void gather_row(const CsrView<T>& X, int64_t i, const List& list) {
    const Preparation& by = of_.preparation_;
    if (!gathers_listed()) return for_each_prepared(by, X, i, sums_.data(), list);
    for_each_listed(
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

}  // namespace mercer::model
