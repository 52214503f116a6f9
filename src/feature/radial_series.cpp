// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The product rule for g psi, input by input (transform/row_prologue.h):
//   d^p (g psi) = g sum_{q <= p} c(p, q, x) d^q psi,
// where d^q psi(x/l) has the factor prod_k l_k^{-q_k} if the maps read scaled rows. A part makes all
// orders of a tile of rows at once.
#include <algorithm>

#include "feature/maclaurin.h"
#include "kernel/jet.h"
#include "transform/row_prologue.h"

namespace mercer::feature {
namespace {

constexpr int64_t kOrderBytes = int64_t{1} << 23;  // of derivatives of one part at a time

/// body(map, begin, end): its numbers of a row.
template <class Body>
void for_each_map(const RadialSeries& series, Context& context, const Body& body) {
  Stage stage(context, series.whole.row_length());
  int64_t begin = series.constant_reals();
  for (const auto& map : series.maps) {
    stage.share(map->row_length());
    body(*map, begin, begin + map->row_length());
    begin += map->row_length();
    stage.advance(map->row_length());
    context.checkpoint();
  }
}

/// Adds order `from` of psi, times its coefficient, to block `to`.
struct OrderTerm {
  int64_t to;
  int64_t from;
  MultiIndex p;
};

/// The orders of psi that the wanted orders take, and their coefficients.
class OrderSums {
 public:
  OrderSums(const RadialSeries& series, const Derivative& what) : series_(series) {
    std::vector<double> a;
    for (const double one : series.inverse) a.push_back(series.radial * one * one);
    if (a.empty()) a.push_back(series.radial);
    rule_ = series.radial > 0 ? transform::radial_derivative(std::move(a))
                              : transform::plain_derivative();
    const auto sums = partials_of(what, series.whole.inputs());
    for (int64_t b = 0; b < std::ssize(sums); ++b)
      for (const MultiIndex& p : sums[b]) add(b, p);
  }

  const std::vector<MultiIndex>& orders() const noexcept { return orders_; }
  const std::vector<OrderTerm>& terms() const noexcept { return terms_; }
  /// The factor of a term at a row, with g.
  template <class T>
  double coefficient(const OrderTerm& term, double g, const T* x) const {
    double product = g;
    kernel::for_each_input(term.p, orders_[term.from], [&](int64_t k, int64_t p, int64_t q) {
      product *= rule_->coefficient(k, p, q, static_cast<double>(x[k]));
      for (int64_t i = 0; i < q && series_.scales_rows(); ++i) product *= series_.at(k);
    });
    return product;
  }

 private:
  void add(int64_t block, const MultiIndex& p) {
    const kernel::Jet jet(p);
    for (int64_t c = series_.radial > 0 ? 0 : jet.count - 1; c < jet.count; ++c)
      terms_.push_back({block, place_of(jet.order(c)), p});
  }
  int64_t place_of(const MultiIndex& q) {
    const auto same = [&](const MultiIndex& other) {
      return std::ranges::equal(q, other, [](const PartialFactor& a, const PartialFactor& b) {
        return a.input == b.input && a.order == b.order;
      });
    };
    const auto found = std::ranges::find_if(orders_, same);
    if (found == orders_.end()) {
      orders_.push_back(q);
      return std::ssize(orders_) - 1;
    }
    return found - orders_.begin();
  }

  const RadialSeries& series_;
  std::shared_ptr<const transform::RowDerivative> rule_;
  std::vector<MultiIndex> orders_;
  std::vector<OrderTerm> terms_;
};

/// Begins blocks with what the constant column has.
template <class T>
void begin_blocks(const RadialSeries& series, const OrderSums& sums, MatrixView<const T> X,
                  MatrixView<T> out) {
  const int64_t length = series.whole.row_length();
  for (int64_t i = 0; i < X.rows; ++i) {
    std::fill_n(out.row(i), out.cols, T{0});
    if (series.constants() == 0) continue;
    const double g = series.factor(X.row(i));
    for (const OrderTerm& term : sums.terms())
      if (sums.orders()[term.from].empty())
        out(i, term.to * length) +=
            static_cast<T>(series.root * sums.coefficient(term, g, X.row(i)));
  }
}

/// Adds the derivatives of a map whose numbers begin there, `own`: order by order.
template <class T>
void add_orders(const RadialSeries& series, const OrderSums& sums, MatrixView<const T> X,
                MatrixView<const T> own, int64_t begin, MatrixView<T> out) {
  const int64_t width = own.cols / std::ssize(sums.orders()), length = series.whole.row_length();
  for (int64_t i = 0; i < X.rows; ++i) {
    const double g = series.factor(X.row(i));
    if (g == 0) continue;  // powers may have overflowed
    for (const OrderTerm& term : sums.terms()) {
      const double times = sums.coefficient(term, g, X.row(i));
      const T* const from = own.row(i) + term.from * width;
      T* const to = out.row(i) + term.to * length + begin;
      for (int64_t j = 0; j < width; ++j)
        to[j] += static_cast<T>(times * static_cast<double>(from[j]));
    }
  }
}

/// Where there is a radial factor, whose slope multiplies the features.
template <class T>
Matrix<T> room_for_features(const RadialSeries& series, int64_t rows, Context& context) {
  return {series.radial > 0 ? rows : 0, series.whole.row_length(), context,
          "features of some rows"};
}
template <class T>
MatrixView<const T> features_of_tile(const RadialSeries& series, MatrixView<const T> X,
                                     const Matrix<T>& room, Context& context) {
  if (series.radial == 0) return room.view();
  const MatrixView<T> phi = room.view().block_rows(0, X.rows);
  series.whole.apply(X, {0, series.whole.features()}, context, phi);
  return phi;
}

/// z = g z + (d log g)(v) phi, the differential of a row along v.
template <class T>
void add_slope(const RadialSeries& series, const T* x, const T* v, const T* phi, T* z) noexcept {
  const double g = series.factor(x);
  double slope = 0;
  for (int64_t k = 0; k < series.whole.inputs(); ++k)
    slope -= series.radial * series.at(k) * series.at(k) * static_cast<double>(x[k]) * v[k];
  for (int64_t j = 0; j < series.whole.row_length(); ++j)
    z[j] = static_cast<T>((g == 0 ? 0 : g * z[j]) + slope * phi[j]);
}

/// The gradient of a row, given that of psi in the rows that the maps read; phi: with a radial
/// factor.
template <class T>
void finish_gradient(const RadialSeries& series, const T* x, const T* cotangent, const T* phi,
                     T* sum) noexcept {
  const double g = series.radial > 0 ? series.factor(x) : 1;
  double along = 0;
  for (int64_t j = 0; j < series.whole.row_length() && series.radial > 0; ++j)
    along += static_cast<double>(cotangent[j]) * phi[j];
  for (int64_t k = 0; k < series.whole.inputs(); ++k) {
    const double l = series.at(k), inner = series.scales_rows() ? l : 1;
    const double slope = -series.radial * l * l * static_cast<double>(x[k]);
    sum[k] = static_cast<T>((g == 0 ? 0 : g * inner * sum[k]) + slope * along);
  }
}

}  // namespace

template <class T>
void differentiate_rows(const RadialSeries& series, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const OrderSums sums(series, what);
  const auto orders = std::max<int64_t>(1, std::ssize(sums.orders()));
  begin_blocks(series, sums, X, out);
  if (sums.orders().empty()) return;
  for_each_map(series, context, [&](const FeatureMap& map, int64_t begin, int64_t end) {
    const int64_t width = orders * (end - begin);
    const int64_t rows = std::clamp(kOrderBytes / (width * int64_t{sizeof(T)}), int64_t{1},
                                    std::max<int64_t>(X.rows, 1));
    const Matrix<T> tile(rows, width, context, "the derivatives of one degree"),
        room = series.room<T>(rows, context);
    for (int64_t i0 = 0; i0 < X.rows; i0 += rows) {
      const int64_t i1 = std::min(i0 + rows, X.rows);
      const MatrixView<const T> some = X.block_rows(i0, i1);
      const MatrixView<T> own = tile.view().block_rows(0, i1 - i0);
      map.derivatives()->differentiate({Derivative::Kind::partials, sums.orders()},
                                       series.scaled(some, room), context, own);
      add_orders<T>(series, sums, some, own, begin, out.block_rows(i0, i1));
      context.checkpoint();
    }
  });
}

template <class T>
void push_rows_forward(const RadialSeries& series, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const int64_t tile = series.tile_rows<T>(X.rows, series.whole.row_length());
  const Matrix<T> rooms[] = {series.room<T>(tile, context), series.room<T>(tile, context)},
                  features = room_for_features<T>(series, tile, context);
  Stage stage(context, X.rows);
  for (int64_t i0 = 0; i0 < X.rows; i0 += tile) {
    const int64_t i1 = std::min(i0 + tile, X.rows);
    const MatrixView<const T> x = X.block_rows(i0, i1), v = V.block_rows(i0, i1);
    const MatrixView<T> z = out.block_rows(i0, i1);
    const auto u = series.scaled(x, rooms[0]), w = series.scaled(v, rooms[1]);
    stage.share(i1 - i0);
    for_each_map(series, context, [&](const FeatureMap& map, int64_t begin, int64_t end) {
      map.derivatives()->push_forward(u, w, context, z.block_cols(begin, end));
    });
    const MatrixView<const T> phi = features_of_tile(series, x, features, context);
    for (int64_t i = 0; i < x.rows; ++i) {
      std::fill_n(z.row(i), series.constant_reals(), T{0});
      if (series.radial > 0) add_slope(series, x.row(i), v.row(i), phi.row(i), z.row(i));
    }
    stage.advance(i1 - i0);
  }
}

template <class T>
void pull_rows_back(const RadialSeries& series, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  const int64_t tile = series.tile_rows<T>(X.rows, series.whole.row_length());
  const Matrix<T> room = series.room<T>(tile, context),
                  own(tile, X.cols, context, "the gradient of one degree"),
                  features = room_for_features<T>(series, tile, context);
  Stage stage(context, X.rows);
  for (int64_t i0 = 0; i0 < X.rows; i0 += tile) {
    const int64_t i1 = std::min(i0 + tile, X.rows);
    const MatrixView<const T> x = X.block_rows(i0, i1), g = G.block_rows(i0, i1);
    const MatrixView<T> sum = out.block_rows(i0, i1), one = own.view().block_rows(0, i1 - i0);
    const auto u = series.scaled(x, room);
    for (int64_t i = 0; i < x.rows; ++i) std::fill_n(sum.row(i), x.cols, T{0});
    stage.share(i1 - i0);
    for_each_map(series, context, [&](const FeatureMap& map, int64_t begin, int64_t end) {
      map.derivatives()->pull_back(u, g.block_cols(begin, end), context, one);
      for (int64_t i = 0; i < x.rows; ++i)
        for (int64_t k = 0; k < x.cols; ++k) sum(i, k) += one(i, k);
    });
    const MatrixView<const T> phi = features_of_tile(series, x, features, context);
    for (int64_t i = 0; i < x.rows; ++i)
      finish_gradient(series, x.row(i), g.row(i), series.radial > 0 ? phi.row(i) : nullptr,
                      sum.row(i));
    stage.advance(i1 - i0);
  }
}

MERCER_INSTANTIATE_DERIVATIVES(RadialSeries)

}  // namespace mercer::feature
