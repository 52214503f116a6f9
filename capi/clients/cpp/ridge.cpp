// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian ridge regression on random Fourier features, in C++17: map, statistics by blocks of
// rows, ridge, prediction; the same as a model that standardises its inputs; a file; what an error
// says. Usage: ridge [FILE]
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <mercer/mercer.hpp>

namespace {

constexpr int64_t n = 2000, d = 3, D = 512, block = 256, probes = 50;

struct Data {
  mercer::Matrix<double> X{n, d};
  mercer::Matrix<double> y{n, 1};
};

/// Multiples of 1/512 in [-1, 1), so that targets have the same bits in every language.
Data generate() {
  Data data;
  uint64_t state = 1;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < d; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      data.X(i, j) = static_cast<double>(state >> 54) / 512 - 1;
    }
    data.y(i, 0) = data.X(i, 0) * data.X(i, 0) + data.X(i, 1) * data.X(i, 2);
  }
  return data;
}

/// FNV-1a of the bytes of a model's predictions; clients in other languages print the same.
uint64_t hash_of_predictions(const Data& data) {
  namespace spec = mercer::spec;
  const auto features =
      spec::maps::Auto().kernel(spec::kernels::Gaussian().lengthscale(0.7)).features(D);
  const auto fit = spec::models::Ridge().map(features).search(false).lambda(1e-6);
  const auto model = mercer::Model::fit(fit, mercer::Data(data.X, data.y));
  const mercer::Matrix<double> f = model.predict(data.X);
  uint64_t hash = 14695981039346656037u;
  for (int64_t i = 0; i < n; ++i) {
    unsigned char bytes[sizeof(double)];
    std::memcpy(bytes, &f(i, 0), sizeof bytes);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  }
  return hash;
}

template <class T>
mercer::MatrixView<T> rows(mercer::MatrixView<T> all, int64_t i0, int64_t i1) {
  return {all.data + i0 * all.ld, i1 - i0, all.cols, all.ld};
}

mercer::Weights fit(const mercer::Map& map, const Data& data) {
  mercer::Statistics statistics(D, 1);
  for (int64_t i = 0; i < n; i += block) {
    const int64_t end = std::min(n, i + block);
    const mercer::Matrix<double> Z = map.apply(rows(data.X.view(), i, end));
    statistics.add(Z, rows(data.y.view(), i, end));
  }
  return mercer::Ridge(statistics, true).solve(1e-6);
}

/// ||y - prediction|| / ||y||
template <class Predict>
double relative_error(const Data& data, Predict predict) {
  double residual = 0, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    residual += std::pow(data.y(i, 0) - predict(i), 2);
    total += std::pow(data.y(i, 0), 2);
  }
  return std::sqrt(residual / total);
}

/// Largest |z(x)'z(y) - k(x, y)| over pairs of the first rows.
double kernel_error(const mercer::Kernel& kernel, const Data& data,
                    const mercer::Matrix<double>& Z) {
  mercer::Matrix<double> K(probes, probes);
  const auto first = rows(data.X.view(), 0, probes);
  kernel.gram(first, first, K);
  double worst = 0;
  for (int64_t i = 0; i < probes; ++i) {
    for (int64_t j = 0; j < probes; ++j) {
      double estimate = 0;
      for (int64_t c = 0; c < D; ++c) estimate += Z(i, c) * Z(j, c);
      worst = std::max(worst, std::abs(estimate - K(i, j)));
    }
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string path = argc > 1 ? argv[1] : "ridge_cpp.mercer";
  const Data data = generate();
  const auto kernel = mercer::Kernel::gaussian(0.7);
  const auto map = mercer::Map::fourier(kernel, d, D, "\"seed\":42");

  const mercer::Weights weights = fit(map, data);
  const mercer::Matrix<double> Z = map.apply(data.X);
  const double by_hand = relative_error(data, [&](int64_t i) {
    double prediction = weights.intercept[0];
    for (int64_t j = 0; j < D; ++j) prediction += Z(i, j) * weights.w(j, 0);
    return prediction;
  });
  const double error = kernel_error(kernel, data, Z);
  std::cout << "relative error " << by_hand << ", largest kernel error " << error << '\n';

  std::cout << "predictions " << std::hex << std::setw(16) << std::setfill('0')
            << hash_of_predictions(data) << std::dec << '\n';

  mercer::Context context(2, 0, [](int64_t done, int64_t total) { return done <= total; });
  const auto model = mercer::Model::fit("{}", mercer::Data(data.X, data.y).map(map), &context);
  model.save(path);
  const auto predicted = mercer::Model::load(path).predict(data.X);
  const double by_model = relative_error(data, [&](int64_t i) { return predicted(i, 0); });
  std::cout << "a saved model: relative error " << by_model << ", lambda " << model.lambda()
            << '\n';

  try {
    auto beyond = mercer::transform_options();
    beyond.end = D + 1;
    mercer::Matrix<double> wide(n, D + 1);
    map.transform(data.X, wide, beyond);
    return 1;
  } catch (const mercer::Error& refused) {
    std::cout << "an error says: " << refused.what() << '\n';
    if (refused.status() != MERCER_INVALID_ARGUMENT) return 1;
  }
  // Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
  return by_hand < 0.01 && by_model < 0.01 && error < 6 * std::sqrt(1.5 / D) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
