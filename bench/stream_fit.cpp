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
        X[i * d + k] = static_cast<float>(x);
        sum += x * static_cast<double>(k % 3 - 1);
      }
      y[i] = std::sin(sum);
    }
    check(mercer_map_apply_f32(map, n, X.data(), d, nullptr, Z.data(), D));
  }
};

mercer_map* gaussian_map(int64_t d, int64_t D) {
  const double lengthscale = 3;
  mercer_map* map = nullptr;
  char spec[160];
  std::snprintf(
      spec, sizeof spec,
      R"({"kernel":{"kernel":"gaussian","lengthscale":%.17g},"inputs":%lld,"features":%lld})",
      lengthscale, static_cast<long long>(d), static_cast<long long>(D));
  check(mercer_map_from_spec(spec, &map));
  return map;
}

mercer_statistics* no_rows(int64_t D) {
  mercer_statistics* statistics = nullptr;
  check(mercer_statistics_create(D, 1, &statistics));
  return statistics;
}

// Every tenth block is held out.
void add_rows(const mercer_map* map, int64_t rows, int64_t d, int64_t D,
              mercer_statistics* training, mercer_statistics* held_out) {
  constexpr int64_t kBlock = 1024;
  Block block{d, D, std::vector<float>(kBlock * d), std::vector<float>(kBlock * D),
              std::vector<double>(kBlock)};
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int64_t n = std::min(kBlock, rows - first);
    block.fill(map, first, n);
    const mercer_rows Z = mercer_rows_f32(n, D, block.Z.data());
    const mercer_rows y = mercer_rows_f64(n, 1, block.y.data());
    check(mercer_statistics_add(first / kBlock % 10 == 9 ? held_out : training, 1, Z, y, nullptr));
  }
}

struct Choice {
  double lambda = 0;
  double error = 1e300;
};

Choice best_of_path(const mercer_ridge* ridge, const mercer_statistics* held_out) {
  Choice best;
  for (double lambda = 1e-2; lambda > 1e-13; lambda /= 10) {
    double error = 0;
    check(mercer_ridge_error(ridge, lambda, held_out, mercer_matrix_f64(1, 1, &error), nullptr));
    if (error < best.error) best = {lambda, error};
  }
  return best;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1000000;
  const int64_t d = argc > 2 ? std::atoll(argv[2]) : 20;
  const int64_t D = argc > 3 ? std::atoll(argv[3]) : 2000;
  const double start = seconds();
  mercer_map* map = gaussian_map(d, D);
  mercer_statistics *training = no_rows(D), *held_out = no_rows(D);
  add_rows(map, rows, d, D, training, held_out);
  const double counted = seconds();
  mercer_ridge* ridge = nullptr;
  check(mercer_ridge_create(training, 1, nullptr, &ridge));
  mercer_statistics_free(training);
  const Choice best = best_of_path(ridge, held_out);
  std::printf(
      "rows,d,D,statistics_s,path_s,lambda,held_out_mse,peak_MB\n%lld,%lld,%lld,%.1f,%.1f,%.0e,%."
      "3e,%.0f\n",
      static_cast<long long>(rows), static_cast<long long>(d), static_cast<long long>(D),
      counted - start, seconds() - counted, best.lambda, best.error, peak_megabytes());
  mercer_ridge_free(ridge);
  mercer_statistics_free(held_out);
  mercer_map_free(map);
  return 0;
}
