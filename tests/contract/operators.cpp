// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What every operator cell keeps beside its moments: one Phi in both directions and both
// precisions, NaN in its row, its seed, its spec and its file.
#include <map>

#include "contract/cells.h"
#include "contract/choices.h"
#include "contract/match.h"
#include "contract/operator_cells.h"
#include "contract/round_trip.h"
#include "feature/feature_operator.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/field_maps.h"

namespace mercer::test::operators {
namespace {

constexpr int64_t kRows = 40, kD = 20;
constexpr uint64_t kSeed = 8;

/// Positive, as some kernels need them.
Matrix<double> rows_of(const OperatorCell& cell, int64_t n) {
  static constexpr KernelRow kPositive{.spec = "", .scale = 1.0, .domain = 0.0};
  return rows_for(kPositive, n, cell.inputs(), 3);
}

double inner(const Matrix<double>& A, const Matrix<double>& B) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i) sum += A.data()[i] * B.data()[i];
  return sum;
}
double norm(const Matrix<double>& A) { return std::sqrt(inner(A, A)); }

bool is_in_some_cell(const Parameters& spec) {
  return std::ranges::any_of(made_operator_cells(),
                             [&](const OperatorCell& cell) { return holds(cell.spec, spec); });
}
bool is_given_by_a_row(const Parameters& named, const char* key) {
  return std::ranges::any_of(operator_rows(), [&](const OperatorRow& row) {
    const Parameters spec = spec::parse_object(row.spec);
    return holds(spec, named) && spec.find(key) != nullptr;
  });
}

/// Said by maps of other kernels, and asked for by nobody.
bool is_said(const char* key) {
  const Parameters said{{"map", "fourier"}, {"key", std::string(key)}};
  return std::ranges::any_of(said_fields(),
                             [&](const char* row) { return holds(spec::parse_object(row), said); });
}

/// Without FFTW, without numbers or rows, or refused in all cells of the kernel.
bool is_left_out(const Parameters& single) {
  const auto of = [&](const char* projection) {
    return holds(single, Parameters{{"projection", projection}});
  };
  return (!MERCER_TEST_FFTW && of("circulant")) || of(feature::kSupplied) || of(feature::kGrid) ||
         std::ranges::any_of(refused_operator_cells(), [&](const OperatorCell& cell) {
           return cell.is_weighed() && holds(cell.spec, single);
         });
}

bool same_map(const FeatureMap& a, const FeatureMap& b, const Matrix<double>& X) {
  return spec::to_spec(a) == spec::to_spec(b) &&
         equal_bytes(matrix_of(a, X.view()), matrix_of(b, X.view()));
}

}  // namespace

TEST_CASE("contract: every operator and choice of a field is made in some cell") {
  for (const auto& entry : kernel::kernel_table()) {
    if (entry.outputs == kernel::OutputCount::one) continue;
    const Parameters named{{"operator", std::string(entry.name)}};
    INFO(entry.name);
    CHECK(is_in_some_cell(named));
    for (const Field& field : fields_of(entry)) {
      INFO(field.key);
      if (choices(field).empty())
        CHECK((is_given_by_a_row(named, field.key) || is_said(field.key)));
      for (const Parameters& single : crossed(named, {&field, 1})) {
        INFO(print_object(single));
        CHECK((is_left_out(single) || is_in_some_cell(single)));
      }
    }
  }
}

TEST_CASE("contract: operator cells are refused where the table says") {
  CHECK(refused_operator_cells().size() > 0);
  for (const OperatorCell& cell : refused_operator_cells()) {
    INFO(cell.label);
    CHECK_REFUSED(MERCER_UNSUPPORTED, cell.make(8, 0), cell.projection().name);
  }
}

TEST_CASE("contract: every option of a Fourier map is made with every operator, or refused") {
  const feature::MapEntry& entry = feature::map_entry({{"map", "fourier"}});
  std::map<mercer_status, int64_t> counts;
  int64_t whole = 0;
  for (const char* kernel : {"curl_free", "divergence_free", "helmholtz", "decomposable"}) {
    Parameters own{{"kernel", kernel}};
    if (own.text("kernel") == "decomposable") own.set("gamma", std::vector<double>{2, 1, 1, 2});
    Parameters given{{"map", "fourier"},
                     {"kernel", std::make_shared<const Parameters>(own)},
                     {"inputs", int64_t{3}},
                     {"features", int64_t{96}}};
    for (const Parameters& some : crossed(given, entry.fields))
      for (const Parameters& spec : crossed(some, entry.root_fields)) {
        // Of a decomposable kernel these fields do not exist, so that a choice of them is refused.
        const Outcome made = outcome([&] { spec::map_from_spec(print_object(spec)); });
        ++counts[made.status];
        whole += made.status == MERCER_OK && spec.boolean("whole_blocks");
      }
  }
  CHECK(whole > 40);
  CHECK((counts.size() == 3 && counts[MERCER_OK] > 100 && counts[MERCER_UNSUPPORTED] > 100 &&
         counts[MERCER_INVALID_ARGUMENT] > 0));
}

TEST_CASE("contract: an operator map's adjoint is the transpose of its fields") {
  for (const OperatorCell& cell : made_operator_cells()) {
    const auto map = cell.make(kD, kSeed);
    INFO(cell.label);
    const Matrix<double> X = rows_of(cell, kRows), theta = random_matrix(map->features(), 2, 2),
                         Y = random_matrix(kRows, 2 * map->outputs(), 5);
    const Matrix<double> fields = field_of(*map, X.view(), theta);
    const double forth = inner(fields, Y), back = inner(theta, adjoint_of(*map, X.view(), Y));
    CHECK(std::fabs(forth - back) <= 1e-12 * norm(fields) * norm(Y));
    CHECK(norm(fields) > 0);
  }
}

TEST_CASE("contract: operator maps in single precision are those in double, rounded") {
  for (const OperatorCell& cell : made_operator_cells()) {
    const auto map = cell.make(kD, kSeed);
    INFO(cell.label);
    const int64_t p = map->outputs();
    const Matrix<float> X = converted<float>(rows_of(cell, kRows)),
                        Y = converted<float>(random_matrix(kRows, p, 5));
    const Matrix<double> wide = copy(X.view()), theta = random_matrix(map->features(), 1, 2);
    Matrix<float> fields(kRows, p);
    Matrix<double> sums(map->features(), 1);
    Context context;
    multiply(*map, X.view(), theta.view(), feature::FieldKind::value, context, fields.view());
    adjoint(*map, X.view(), Y.view(), context, sums.view());
    const Matrix<double> exact = field_of(*map, wide.view(), theta),
                         adjoint = adjoint_of(*map, wide.view(), copy(Y.view()));
    // Angles of up to 100 of heavy tails lose 1e-5.
    CHECK(difference(copy(fields.view()).view(), exact.view(), 1e-4 * largest(exact.view())) == "");
    CHECK(difference(sums.view(), adjoint.view(), 1e-4 * largest(adjoint.view())) == "");
  }
}

TEST_CASE("contract: NaN stays in its row of an operator map's fields") {
  for (const OperatorCell& cell : made_operator_cells()) {
    const auto map = cell.make(kD, kSeed);
    INFO(cell.label);
    Matrix<double> X = rows_of(cell, 7);
    const Matrix<double> theta = random_matrix(map->features(), 1, 2);
    const Matrix<double> whole = field_of(*map, X.view(), theta);
    X(3, 1) = NAN;
    const Matrix<double> broken = field_of(*map, X.view(), theta);
    int64_t wrong = 0;
    for (int64_t i = 0; i < whole.rows(); ++i)
      for (int64_t k = 0; k < whole.cols(); ++k)
        wrong += i == 3 ? !std::isnan(broken(i, k)) : broken(i, k) != whole(i, k);
    CHECK(wrong == 0);
  }
}

TEST_CASE("contract: a seed is an operator map, another seed another") {
  for (const OperatorCell& cell : made_operator_cells()) {
    const Matrix<double> X = rows_of(cell, 3);
    INFO(cell.label);
    const auto at = [&](uint64_t seed) { return matrix_of(*cell.make(kD, seed), X.view()); };
    const Matrix<double> phi = at(kSeed);
    CHECK(equal_bytes(phi, at(kSeed)));
    CHECK(!equal_bytes(phi, at(kSeed + 1)));
    // Nor do the upper bits of a seed go unread.
    CHECK(!equal_bytes(phi, at(kSeed + (uint64_t{1} << 32))));
    CHECK(!equal_bytes(phi, at(kSeed + (uint64_t{1} << 63))));
  }
}

TEST_CASE("contract: operator maps and kernels come back from their spec and file") {
  uint64_t seed = 0;
  for (const OperatorCell& cell : made_operator_cells()) {
    seed = next_seed(seed);
    const auto map = cell.make(kD, seed);
    const Matrix<double> X = rows_of(cell, 3);
    INFO(cell.label << ", seed " << seed);
    CHECK(same_map(*map, *spec::map_from_spec(spec::to_spec(*map)), X));
    const auto load = [](const std::string& path) { return io::load_map(path); };
    CHECK(same_map(*map, *through_file(*map, load), X));
    const std::string text = spec::to_spec(map->kernel());
    const auto kernel = spec::kernel_from_spec(text);
    CHECK(spec::to_spec(*kernel) == text);
    CHECK(equal_bytes(gram_of(*kernel, X, X), gram_of(map->kernel(), X, X)));
  }
}

}  // namespace mercer::test::operators
