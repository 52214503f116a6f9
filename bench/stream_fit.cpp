// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A fit of more rows than fit in memory through the public C API: blocks of rows are generated,
// mapped, added to row statistics; then one eigendecomposition serves a path of lambda, scored on
// held-out rows. Prints seconds and the peak of resident memory. Usage: mercer_stream_fit [rows
// 1000000] [inputs 20] [features 2000]
#include <mercer/mercer.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(mercer_status status) {
  if (status == MERCER_OK) return;
  std::fprintf(stderr, "%s\n", mercer_last_error());
  std::exit(1);
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Uniform on (-1, 1), a function of its number (splitmix64): the rows are never stored.
double number(uint64_t i) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

struct Block {
  int64_t d, D;
  std::vector<float> X, Z;
  std::vector<double> y;

  void fill(const mercer_map* map, int64_t first, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < d; ++k) {
        const double x = number(static_cast<uint64_t>((first + i) * d + k));
        X[static_cast<size_t>(i * d + k)] = static_cast<float>(x);
        sum += x * static_cast<double>(k % 3 - 1);
      }
      y[static_cast<size_t>(i)] = std::sin(sum);
    }
    check(mercer_map_apply_f32(map, n, X.data(), d, nullptr, Z.data(), D));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1000000;
  const int64_t d = argc > 2 ? std::atoll(argv[2]) : 20;
  const int64_t D = argc > 3 ? std::atoll(argv[3]) : 2000;
  constexpr int64_t kBlock = 1024;
  const double start = seconds();
  const double lengthscale = 3;
  mercer_kernel* kernel = nullptr;
  mercer_map* map = nullptr;
  check(mercer_kernel_gaussian(&lengthscale, 1, &kernel));
  check(mercer_fourier_create(kernel, d, D, nullptr, &map));
  mercer_statistics *training = nullptr, *held_out = nullptr;
  check(mercer_statistics_create(D, 1, &training));
  check(mercer_statistics_create(D, 1, &held_out));
  Block block{d, D, std::vector<float>(kBlock * d), std::vector<float>(kBlock * D),
              std::vector<double>(kBlock)};
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int64_t n = std::min(kBlock, rows - first);
    block.fill(map, first, n);
    // Every tenth block is held out.
    mercer_statistics* to = first / kBlock % 10 == 9 ? held_out : training;
    const mercer_rows Z = mercer_rows_f32(n, D, block.Z.data());
    const mercer_rows y = mercer_rows_f64(n, 1, block.y.data());
    check(mercer_statistics_add(to, &Z, &y, nullptr));
  }
  const double counted = seconds();
  mercer_ridge* ridge = nullptr;
  check(mercer_ridge_create(training, 1, nullptr, &ridge));
  mercer_statistics_free(training);
  double best = 1e300, best_lambda = 0;
  for (double lambda = 1e-2; lambda > 1e-13; lambda /= 10) {
    double error = 0;
    check(mercer_ridge_held_out_error_f64(ridge, lambda, held_out, &error));
    if (error < best) {
      best = error;
      best_lambda = lambda;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "rows,d,D,statistics_s,path_s,lambda,held_out_mse,peak_MB\n%lld,%lld,%lld,%.1f,%.1f,%.0e,%."
      "3e,%.0f\n",
      static_cast<long long>(rows), static_cast<long long>(d), static_cast<long long>(D),
      counted - start, seconds() - counted, best_lambda, best,
      static_cast<double>(usage.ru_maxrss) / 1024);
  mercer_ridge_free(ridge);
  mercer_statistics_free(held_out);
  mercer_map_free(map);
  mercer_kernel_free(kernel);
  return 0;
}
