// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_scalapack_ridge: what is asked for, the memory that it takes, and the steps of a fit.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "mercer/scalapack.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "centered_rows.h"
#include "grid.h"
#include "normal_sums.h"
#include "processes.h"
#include "ridge.h"
#include "rows.h"

namespace mercer::scalapack {
namespace {

constexpr int64_t kMostFactors = 12;  // of MERCER_SCALAPACK_AUTO
constexpr int64_t kBlock = 128, kBlockRows = 512, kProbes = 64, kPassProbes = 16;
constexpr int64_t kIterations = 2000;
constexpr double kTolerance = 1e-9;
constexpr uint32_t kOptionsFirstSize = 64;
constexpr int64_t kMostInt = std::numeric_limits<int>::max();
constexpr int64_t kSumBytes = int64_t{1} << 24;   // of mercer_mpi_sum
constexpr int64_t kTileBytes = int64_t{1} << 25;  // of the map

std::string text_of(int64_t number) { return std::to_string(number); }

// ---- What is asked for.

/// A caller's struct, of which struct_size bytes are given, `least` in the first release, as much of
/// it as this library knows.
template <class T>
T read_struct(const T* given, const std::string& name, uint32_t least = sizeof(T)) {
  require(given != nullptr, MERCER_INVALID_ARGUMENT, name + " = NULL");
  require(
      given->struct_size >= least, MERCER_INVALID_ARGUMENT,
      name + "->struct_size = " + text_of(given->struct_size) + ", expected " + text_of(sizeof(T)));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  const size_t known = std::min<size_t>(sizeof(T), given->struct_size);
  require(std::all_of(bytes + known, bytes + given->struct_size,
                      [](unsigned char byte) { return byte == 0; }),
          MERCER_UNSUPPORTED, name + " has members that this library does not know");
  T read{};
  std::memcpy(&read, given, known);
  return read;
}

bool is_scored(const mercer_scalapack_options& options) {
  return options.penalty_count > 1 || options.scores != nullptr;
}

bool by_passes(const mercer_scalapack_options& options) {
  return options.method == MERCER_SCALAPACK_CG || options.method == MERCER_SCALAPACK_MIXED;
}

/// What belongs to passes alone, and what they do not serve.
void check_passes(const mercer_scalapack_options& options) {
  const bool passes = by_passes(options);
  require(std::isfinite(options.tolerance) && options.tolerance >= 0 && options.tolerance < 1,
          MERCER_INVALID_ARGUMENT,
          "options->tolerance = " + std::to_string(options.tolerance) + ", expected 0 to 1");
  require(passes || (options.tolerance == 0 && options.iterations == 0), MERCER_UNSUPPORTED,
          "options->tolerance or iterations of another method, expected 0, or CG or MIXED");
  require(!passes || !is_scored(options) || options.criterion == MERCER_SCALAPACK_GCV,
          MERCER_UNSUPPORTED,
          "options->criterion = EVIDENCE or LEAVE_ONE_OUT by CG or MIXED, expected GCV or one "
          "penalty without scores");
  const bool has_probes = options.criterion == MERCER_SCALAPACK_LEAVE_ONE_OUT ||
                          (passes && options.criterion == MERCER_SCALAPACK_GCV);
  require(options.probes == 0 || has_probes, MERCER_UNSUPPORTED,
          "options->probes = " + text_of(options.probes) +
              " of another criterion, expected 0, or LEAVE_ONE_OUT, or GCV by CG or MIXED");
}

mercer_scalapack_options read_options(const mercer_scalapack_options* given) {
  const mercer_scalapack_options options = read_struct(given, "options", kOptionsFirstSize);
  const auto within = [](int64_t value, int64_t most, const char* name) {
    require(value >= 0 && value <= most, MERCER_INVALID_ARGUMENT,
            std::string("options->") + name + " = " + text_of(value) + ", expected 0 to " +
                text_of(most));
  };
  within(options.criterion, MERCER_SCALAPACK_LEAVE_ONE_OUT, "criterion");
  within(options.method, MERCER_SCALAPACK_MIXED, "method");
  within(options.grid_rows, kMostInt, "grid_rows");
  within(options.block, 4096, "block");
  within(options.block_rows, int64_t{1} << 24, "block_rows");
  within(options.probes, kMostInt, "probes");
  within(options.iterations, kMostInt, "iterations");
  check_passes(options);
  require(options.penalties != nullptr && options.penalty_count >= 1, MERCER_INVALID_ARGUMENT,
          "options->penalties = NULL or penalty_count < 1, expected a lambda at least");
  const bool by_evidence = options.criterion == MERCER_SCALAPACK_EVIDENCE && is_scored(options);
  for (int64_t k = 0; k < options.penalty_count; ++k) {
    const double penalty = options.penalties[k];
    require(std::isfinite(penalty) && penalty >= 0 && (penalty > 0 || !by_evidence),
            MERCER_INVALID_ARGUMENT,
            "options->penalties[" + text_of(k) + "] = " + std::to_string(penalty) +
                (by_evidence ? ", expected a number > 0" : ", expected a number >= 0"));
  }
  return options;
}

/// As many as are asked for, or the default, and as features.
int64_t probes_of(const mercer_scalapack_options& options, int64_t features) {
  const bool leaves_out = options.criterion == MERCER_SCALAPACK_LEAVE_ONE_OUT;
  if (!is_scored(options) || (!leaves_out && !by_passes(options))) return 0;
  const int64_t usual = leaves_out ? kProbes : kPassProbes;
  return std::min(options.probes > 0 ? options.probes : usual, features);
}

RidgeOptions ridge_options(const mercer_scalapack_options& options, int64_t features,
                           int64_t block_rows) {
  const bool few = options.penalty_count <= kMostFactors;
  const int32_t open = few ? MERCER_SCALAPACK_FACTORS : MERCER_SCALAPACK_EIGENVALUES;
  return {options.center != 0,
          options.criterion,
          options.method == MERCER_SCALAPACK_AUTO ? open : options.method,
          {options.penalties, options.penalties + options.penalty_count},
          options.scores,
          {options.tolerance > 0 ? options.tolerance : kTolerance,
           options.iterations > 0 ? options.iterations : kIterations},
          probes_of(options, features),
          block_rows};
}

struct Sizes {
  int64_t processes, inputs, features, targets;
};

/// How the processes divide the work, and what it takes.
struct Plan {
  GridShape shape;
  int64_t block, block_rows;
  RidgeOptions ridge;
  int64_t bytes, bytes_of_map;
};

GridShape shape_of(const mercer_scalapack_options& options, int64_t processes) {
  if (options.grid_rows == 0)  // without Z'Z columns of all rows are least memory
    return options.method == MERCER_SCALAPACK_CG ? GridShape{processes, 1} : square_grid(processes);
  require(processes % options.grid_rows == 0, MERCER_INVALID_ARGUMENT,
          "options->grid_rows = " + text_of(options.grid_rows) + ", expected a divisor of " +
              text_of(processes) + " processes");
  return {options.grid_rows, processes / options.grid_rows};
}

/// The largest parts of a process, in double, which no size overflows.
struct Parts {
  double rows, columns, features, targets, width, block_rows, penalties, probes;
  double most() const { return rows * columns; }
};

Parts parts_of(const Sizes& sizes, const Plan& plan) {
  const auto count = [](int64_t number) { return static_cast<double>(number); };
  return {count(local_count(sizes.features, plan.block, 0, plan.shape.rows)),
          count(local_count(sizes.features, plan.block, 0, plan.shape.columns)),
          count(sizes.features),
          count(sizes.targets),
          count(sizes.inputs + sizes.targets + 1),
          count(plan.block_rows),
          count(std::ssize(plan.ridge.penalties)),
          count(plan.ridge.probes)};
}

/// Numbers of the matrices of the size of Z'Z, and how many of them have an index.
struct Matrices {
  double numbers, largest;
};
Matrices matrices_of(const Sizes& sizes, const Plan& plan, const Parts& of) {
  const double copies = plan.ridge.keeps_sums() ? 2 : 1;
  if (plan.ridge.method == MERCER_SCALAPACK_CG) return {0, 0};
  if (plan.ridge.method == MERCER_SCALAPACK_MIXED) return {of.most() * copies / 2, of.most()};
  if (plan.ridge.method == MERCER_SCALAPACK_FACTORS) return {of.most() * copies, of.most()};
  const auto work = static_cast<double>(eigen_numbers(sizes.features, plan.block, plan.shape));
  return {2 * of.most() + work, std::max(of.most(), work)};
}

/// Numbers that further passes take: products of a block with vectors, the vectors, a sketch.
double pass_numbers(const Plan& plan, const Parts& of) {
  if (plan.ridge.by_passes()) {
    const double count = of.targets + of.probes,
                 rank =
                     plan.ridge.method == MERCER_SCALAPACK_CG
                         ? static_cast<double>(Sketch::rank_for(static_cast<int64_t>(of.features)))
                         : 0;
    return of.block_rows * std::max(count, rank) + 9 * of.rows * count +
           Sketch::bytes(of.rows, rank) / 8;
  }
  if (plan.ridge.probes == 0) return 0;
  return of.penalties * (of.targets + of.probes) * (2 * of.rows + 2 * of.block_rows) +
         of.features * (of.penalties * of.targets + 4 * of.probes);
}

/// The bytes of the process with most places.
void count_bytes(const Sizes& sizes, Plan& plan) {
  const Parts of = parts_of(sizes, plan);
  const Matrices matrices = matrices_of(sizes, plan, of);
  require(std::max(matrices.largest, of.width * of.block_rows) <= static_cast<double>(kMostInt),
          MERCER_UNSUPPORTED,
          text_of(sizes.features) + " features by " + text_of(sizes.processes) +
              " processes, whose parts exceed the 32-bit sizes of ScaLAPACK and MPI, expected more "
              "processes, CG, or smaller block_rows");
  const bool has_gram = plan.ridge.gram() != Gram::none;
  const double made = of.rows + (has_gram ? of.columns : 0),
               singles = plan.ridge.gram() == Gram::in_single ? made / 2 : 0;
  const double of_rows = of.block_rows * (2 * of.width + made + singles + of.targets + 1);
  const double of_sums = of.features * (4 * of.targets + 4) + 3 * of.rows * (of.targets + 1);
  const double of_panels =
      has_gram ? 4 * static_cast<double>(plan.block) * (of.rows + of.columns) : 0;
  const double of_map = static_cast<double>(sizes.inputs) * std::min(of.features, made);
  const double bytes =
      8 * (matrices.numbers + of_rows + of_sums + pass_numbers(plan, of) + of_panels + of_map) +
      static_cast<double>(kSumBytes + kTileBytes);
  require(bytes < 9e18, MERCER_OUT_OF_MEMORY, "more than 9e18 bytes are needed in a process");
  plan.bytes = static_cast<int64_t>(bytes);
  plan.bytes_of_map = static_cast<int64_t>(8 * of_map) + kTileBytes;
}

Plan plan_of(const Sizes& sizes, const mercer_scalapack_options& options) {
  require(sizes.features >= 1 && sizes.features <= kMostInt, MERCER_INVALID_ARGUMENT,
          text_of(sizes.features) + " features, expected 1 to " + text_of(kMostInt));
  require(sizes.processes >= 1 && sizes.inputs >= 1 && sizes.targets >= 1, MERCER_INVALID_ARGUMENT,
          "no processes, inputs or targets, expected one of each at least");
  Plan plan{};
  plan.shape = shape_of(options, sizes.processes);
  const int64_t longer = std::max(plan.shape.rows, plan.shape.columns);
  plan.block = options.block > 0 ? std::min<int64_t>(options.block, sizes.features)
                                 : std::clamp<int64_t>(sizes.features / (8 * longer), 1, kBlock);
  plan.block_rows =
      std::max(options.block_rows > 0 ? options.block_rows : kBlockRows, sizes.processes);
  plan.ridge = ridge_options(options, sizes.features, plan.block_rows);
  count_bytes(sizes, plan);
  return plan;
}

// ---- The call.

/// The names of maps in a spec, parts included.
std::vector<std::string> map_names(const std::string& spec) {
  std::vector<std::string> names;
  const std::string key = "\"map\":\"";
  for (size_t at = spec.find(key); at != std::string::npos; at = spec.find(key, at)) {
    at += key.size();
    names.push_back(spec.substr(at, spec.find('"', at) - at));
  }
  return names;
}

/// A text of the library, by its size.
template <class Write>
std::string library_text(const Write& write) {
  int64_t needed = 0;
  mercer_status status = write(nullptr, 0, &needed);
  require(status == MERCER_OK, status, mercer_last_error());
  std::string text(static_cast<size_t>(needed), '\0');
  status = write(text.data(), needed, &needed);
  require(status == MERCER_OK, status, mercer_last_error());
  text.resize(static_cast<size_t>(needed) - 1);
  return text;
}

/// The map's spec; refused is a map whose columns do not divide.
std::string read_map(const mercer_map* map, mercer_map_info& info) {
  info.struct_size = sizeof info;
  const mercer_status status = mercer_map_shape(map, &info);
  require(status == MERCER_OK, status, mercer_last_error());
  const std::string spec = library_text([&](char* to, int64_t capacity, int64_t* needed) {
    return mercer_map_spec(map, to, capacity, needed);
  });
  for (const std::string& name : map_names(spec)) {
    const std::string entry = library_text([&](char* to, int64_t capacity, int64_t* needed) {
      return mercer_specs(name.c_str(), to, capacity, needed);
    });
    require(entry.find("\"row_per_feature\":true") == std::string::npos, MERCER_UNSUPPORTED,
            "map " + name +
                ", of which every process would hold all rows that it learnt from, "
                "expected one whose columns are drawn");
  }
  require(info.is_complex == 0, MERCER_UNSUPPORTED, "a complex map, expected a real one");
  require(info.outputs == 1, MERCER_UNSUPPORTED,
          "a map of " + text_of(info.outputs) + " outputs, expected one of 1");
  require(info.right_inputs == 0, MERCER_UNSUPPORTED,
          "a map of rows in two parts, expected one of rows");
  return spec;
}

uint64_t hash_of(const void* bytes, size_t count, uint64_t hash = 14695981039346656037u) {
  for (size_t i = 0; i < count; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
  return hash;
}

uint64_t hash_of(const mercer_scalapack_options& options) {
  const int64_t numbers[] = {
      options.center != 0, options.criterion,  options.method,        options.grid_rows,
      options.block,       options.block_rows, options.penalty_count, options.scores != nullptr,
      options.probes,      options.iterations};
  return hash_of(
      options.penalties, static_cast<size_t>(options.penalty_count) * sizeof(double),
      hash_of(&options.tolerance, sizeof options.tolerance, hash_of(numbers, sizeof numbers)));
}

void require_matrix(const mercer_matrix& matrix, int64_t rows, int64_t columns,
                    const std::string& name) {
  if (matrix.struct_size == 0) return;
  require(matrix.struct_size == sizeof matrix && matrix.data != nullptr, MERCER_INVALID_ARGUMENT,
          name + " has no struct_size or no data, expected a matrix or zeros");
  require(matrix.number == MERCER_NUMBER_F64, MERCER_UNSUPPORTED,
          name + ".number = " + text_of(matrix.number) + ", expected F64");
  require(matrix.rows == rows && matrix.cols == columns && matrix.ld >= columns,
          MERCER_DIMENSION_MISMATCH,
          name + " is " + text_of(matrix.rows) + " x " + text_of(matrix.cols) + ", expected " +
              text_of(rows) + " x " + text_of(columns));
}

/// A call's arguments, once they are known to be right in this process.
struct Call {
  const mercer_map* map = nullptr;
  const mercer_data* data = nullptr;
  const mercer_scalapack_options* given = nullptr;
  const mercer_context_options* given_run = nullptr;
  mercer_matrix w{}, intercept{};
  mercer_scalapack_result* result = nullptr;

  mercer_scalapack_options options{};
  mercer_context_options run{};
  mercer_map_info info{};
  uint64_t hashes[2]{};  // of the map's spec, of options
  std::optional<OwnRows> rows;

  void check() {
    require(map != nullptr, MERCER_INVALID_ARGUMENT, "map = NULL, expected a map");
    options = read_options(given);
    if (given_run != nullptr) run = read_struct(given_run, "run");
    run.struct_size = sizeof run;
    require(run.memory_cap >= 0 && run.threads >= 0, MERCER_INVALID_ARGUMENT,
            "run->memory_cap or threads < 0, expected numbers >= 0");
    require(run.trial == nullptr, MERCER_UNSUPPORTED,
            "run->trial, expected NULL: nothing is searched");
    if (result != nullptr) read_struct(result, "result");
    const std::string spec = read_map(map, info);
    hashes[0] = hash_of(spec.data(), spec.size());
    hashes[1] = hash_of(options);
    rows.emplace(data);
    require(rows->inputs() == info.inputs, MERCER_DIMENSION_MISMATCH,
            "rows have " + text_of(rows->inputs()) + " inputs, expected " + text_of(info.inputs) +
                " as the map");
    require_matrix(w, info.features, rows->targets(), "w");
    require_matrix(intercept, 1, rows->targets(), "intercept");
  }
};

void check_same(Processes& all, const Call& call) {
  const int64_t own[] = {call.rows->targets(), static_cast<int64_t>(call.hashes[0]),
                         static_cast<int64_t>(call.hashes[1])};
  std::vector<int64_t> words(3 * static_cast<size_t>(all.size()));
  all.each([&] {
    check_mpi(MPI_Allgather(own, 3, MPI_INT64_T, words.data(), 3, MPI_INT64_T, all.comm()),
              "MPI_Allgather");
    constexpr const char* kNames[] = {"targets", "map", "options"};
    for (size_t k = 0; k < 3; ++k)
      require(own[k] == words[k], MERCER_INVALID_ARGUMENT,
              std::string("other ") + kNames[k] + " than in rank 0, expected the same");
  });
}

/// The fit of one call, in the steps that it takes.
class Fit {
 public:
  Fit(Processes& all, Call& call) : all_(all), call_(call) {}

  void run() {
    plan();
    Grid grid(all_.comm(), plan_.shape);
    std::optional<NormalSums> sums;
    SharedRows rows(all_, *call_.rows, plan_.block_rows);
    all_.each([&] {
      columns_.emplace(call_.info.features, plan_.block, plan_.shape);
      sums.emplace(*columns_, grid, call_.rows->targets(), plan_.block_rows, plan_.ridge.centers,
                   plan_.ridge.gram());
      rows.allocate();
    });
    Progress progress(call_.run, total_work());
    add_rows(rows, *sums, progress);
    CenteredRows centered(all_, rows, *sums, call_.map, context_.get(), progress);
    const Solution solution = solve_ridge(plan_.ridge, *sums, centered);
    write(solution, *sums);
    if (call_.result != nullptr) *call_.result = result_of(solution, sums->y.rows, rows.bytes());
    progress.finish();
  }

 private:
  void plan() {
    all_.each([&] {
      plan_ = plan_of({all_.size(), call_.info.inputs, call_.info.features, call_.rows->targets()},
                      call_.options);
      if (call_.result != nullptr) call_.result->bytes = plan_.bytes;
      require(
          call_.run.memory_cap == 0 || plan_.bytes <= call_.run.memory_cap, MERCER_OUT_OF_MEMORY,
          text_of(plan_.bytes) + " bytes are needed in a process, more than run->memory_cap = " +
              text_of(call_.run.memory_cap));
      mercer_context_options options{};
      options.struct_size = sizeof options;
      options.threads = call_.run.threads;
      if (call_.run.memory_cap > 0)
        options.memory_cap = call_.run.memory_cap - plan_.bytes + plan_.bytes_of_map;
      mercer_context* made = nullptr;
      const mercer_status status = mercer_context_create(&options, &made);
      context_.reset(made);
      require(status == MERCER_OK, status, mercer_last_error());
    });
    // Of rows whose number is not known as many as features are foreseen.
    known_rows_ = all_.sum(static_cast<double>(std::max<int64_t>(0, call_.rows->count())));
    if (all_.sum(call_.rows->count() < 0 ? 1.0 : 0.0) > 0)
      known_rows_ = std::max(known_rows_, static_cast<double>(call_.info.features));
  }
  double total_work() const {
    const double sums = known_rows_ + ridge_work(plan_.ridge, call_.info.features);
    if (plan_.ridge.by_passes()) return sums + known_rows_;
    if (plan_.ridge.probes == 0) return sums;
    const auto left_out = static_cast<double>(call_.options.penalty_count *
                                              (call_.rows->targets() + plan_.ridge.probes));
    return sums + known_rows_ * left_out / static_cast<double>(call_.info.features);
  }
  void add_rows(SharedRows& rows, NormalSums& sums, Progress& progress) {
    double left = known_rows_;
    rows.pass(
        [&](int64_t count) {
          sums.add(rows, count, call_.map, context_.get());
          const double known = std::min(left, static_cast<double>(count));
          left -= known;
          progress.advance(known);
          progress.report();
        },
        [] {});
    progress.advance(left);
  }
  /// The means of features, or zeros, in the order of places.
  std::vector<double> means_of(const NormalSums& sums) {
    std::vector<double> numbers;
    const GridMatrix& cross = sums.cross;
    all_.each([&] { numbers.resize(static_cast<size_t>(cross.rows())); });
    for (int64_t i = 0; cross.grid().column() == 0 && i < cross.local_rows(); ++i)
      numbers[static_cast<size_t>(cross.row_place(i))] = sums.origin()[static_cast<size_t>(i)];
    all_.sum(numbers);
    return numbers;
  }
  void write(const Solution& solution, const NormalSums& sums) {
    const auto m = static_cast<int64_t>(sums.y.sum.size());
    const std::vector<double> means = means_of(sums);
    std::vector<double> intercepts;
    for (int64_t k = 0; k < m; ++k)
      intercepts.push_back(call_.options.center == 0
                               ? 0
                               : sums.y.origin[static_cast<size_t>(k)] +
                                     sums.y.sum[static_cast<size_t>(k)] / sums.y.weight);
    for (int64_t place = 0; place < call_.info.features; ++place) {
      double* const row = static_cast<double*>(call_.w.data) + columns_->at(place) * call_.w.ld;
      for (int64_t k = 0; k < m; ++k) {
        const double weight = solution.weights[static_cast<size_t>(place * m + k)];
        if (call_.w.struct_size != 0) row[k] = weight;
        intercepts[static_cast<size_t>(k)] -= means[static_cast<size_t>(place)] * weight;
      }
    }
    if (call_.intercept.struct_size != 0)
      std::copy(intercepts.begin(), intercepts.end(), static_cast<double*>(call_.intercept.data));
  }
  mercer_scalapack_result result_of(const Solution& solution, int64_t rows,
                                    int64_t row_bytes) const {
    mercer_scalapack_result result{};
    result.struct_size = call_.result->struct_size;
    result.grid_rows = static_cast<int32_t>(plan_.shape.rows);
    result.grid_columns = plan_.shape.columns;
    result.rows = rows;
    result.penalty = solution.penalty;
    result.dimension = solution.dimension;
    result.bytes = plan_.bytes;
    result.row_bytes = row_bytes;
    result.iterations = solution.iterations;
    return result;
  }

  struct FreeContext {
    void operator()(mercer_context* context) const { mercer_context_free(context); }
  };

  Processes& all_;
  Call& call_;
  Plan plan_{};
  double known_rows_ = 0;
  std::unique_ptr<mercer_context, FreeContext> context_;
  std::optional<Columns> columns_;
};

mercer_status fit(mercer_mpi& all, Call& call) {
  Processes processes(all);
  processes.each([&] { call.check(); });
  check_same(processes, call);
  Fit(processes, call).run();
  return MERCER_OK;
}

}  // namespace
}  // namespace mercer::scalapack

mercer_status mercer_scalapack_ridge(mercer_mpi* all, const mercer_map* map,
                                     const mercer_data* data,
                                     const mercer_scalapack_options* options,
                                     const mercer_context_options* run, mercer_matrix w,
                                     mercer_matrix intercept, mercer_scalapack_result* result) {
  if (all == nullptr || all->struct_size != sizeof *all) return MERCER_INVALID_ARGUMENT;
  using namespace mercer::scalapack;
  try {
    Call call;
    call.map = map;
    call.data = data;
    call.given = options;
    call.given_run = run;
    call.w = w;
    call.intercept = intercept;
    call.result = result;
    return fit(*all, call);
  } catch (const Agreed& agreed) {
    return agreed.status;
  } catch (...) {  // between two meetings: the others learn of it at the next
    const Failure failure = failure_now("mercer_scalapack_ridge");
    return mercer_mpi_agree(all, failure.status, failure.text.c_str());
  }
}
