// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// libmercer_mpi, on libmercer's C functions alone. Every collective begins with a word of each
// process: what it is about to do, and whether it can. So a process that has failed and one that
// wants a sum meet, and both learn it.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "mercer/mpi.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

namespace {

constexpr int64_t kChunk = int64_t{1} << 21;  // numbers that travel at a time
constexpr int64_t kBlockRows = 4096;
constexpr int64_t kAgrees = -1;  // in place of how many numbers

// mercer_mpi.state: MPI itself failed, so that processes no longer meet; another process's failure
// ended the last sum; mercer_mpi.error says why what now runs has failed.
constexpr int32_t kBroken = 1, kTold = 2, kSays = 4;

struct Failure {
  mercer_status status;
  std::string text;
};

struct Word {
  int64_t n;  // numbers to sum, or kAgrees
  int64_t status;
  double value;  // the one number to sum; of kAgrees, 1: it failed because another had
};

void set_error(mercer_mpi& all, const std::string& text) {
  std::snprintf(all.error, sizeof all.error, "%s", text.c_str());
}

/// Errors of MPI are returned, until the end of the scope.
class ReturnedErrors {
 public:
  explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_get_errhandler(comm_, &before_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;
  ~ReturnedErrors() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// Throws Failure unless a call of MPI succeeded.
void check_mpi(mercer_mpi& all, int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  all.state |= kBroken;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Failure{MERCER_IO, std::string(function) + ": " + text};
}

/// The processes, for one collective.
class Meeting {
 public:
  explicit Meeting(mercer_mpi& all) : all_(all), errors_(all.comm) {
    check_mpi(all_, MPI_Comm_size(all_.comm, &size_), "MPI_Comm_size");
    check_mpi(all_, MPI_Comm_rank(all_.comm, &rank_), "MPI_Comm_rank");
    words_.resize(static_cast<size_t>(size_));
  }

  int size() const { return size_; }

  const std::vector<Word>& exchange(const Word& own) {
    check_mpi(
        all_,
        MPI_Allgather(&own, sizeof own, MPI_BYTE, words_.data(), sizeof own, MPI_BYTE, all_.comm),
        "MPI_Allgather");
    all_.bytes += static_cast<int64_t>(sizeof own) * (size_ - 1);
    return words_;
  }

  std::string text_of(int rank, const char* own) {
    char text[sizeof all_.error] = "";
    if (rank == rank_) std::snprintf(text, sizeof text, "%s", own);
    check_mpi(all_, MPI_Bcast(text, sizeof text, MPI_CHAR, rank, all_.comm), "MPI_Bcast");
    if (rank != rank_) all_.bytes += static_cast<int64_t>(sizeof text);
    return text;
  }

  /// Each process adds up a slice of all processes' numbers, and all get all slices: 2 (1 - 1/P)
  /// of the numbers come to each, the least that is possible.
  void sum(int64_t n, double* numbers, std::vector<double>& received) {
    std::vector<int> counts(static_cast<size_t>(size_)), starts(counts), equal(counts),
        places(counts);
    for (size_t rank = 0; rank < counts.size(); ++rank) {
      const auto r = static_cast<int64_t>(rank);
      starts[rank] = static_cast<int>(n * r / size_);
      counts[rank] = static_cast<int>(n * (r + 1) / size_) - starts[rank];
    }
    const int own = counts[static_cast<size_t>(rank_)];
    for (size_t rank = 0; rank < counts.size(); ++rank) {
      equal[rank] = own;
      places[rank] = own * static_cast<int>(rank);
    }
    check_mpi(all_,
              MPI_Alltoallv(numbers, counts.data(), starts.data(), MPI_DOUBLE, received.data(),
                            equal.data(), places.data(), MPI_DOUBLE, all_.comm),
              "MPI_Alltoallv");
    add_in_tree(received.data(), own);
    check_mpi(all_,
              MPI_Allgatherv(received.data(), own, MPI_DOUBLE, numbers, counts.data(),
                             starts.data(), MPI_DOUBLE, all_.comm),
              "MPI_Allgatherv");
    all_.bytes += 8 * (int64_t{own} * (size_ - 1) + n - own);
  }

  /// rows: n numbers of each rank; the sum goes to the first. The order depends on the number of
  /// ranks alone.
  void add_in_tree(double* rows, int64_t n) const {
    for (int64_t step = 1; step < size_; step *= 2)
      for (int64_t rank = 0; rank + step < size_; rank += 2 * step)
        for (int64_t i = 0; i < n; ++i) rows[rank * n + i] += rows[(rank + step) * n + i];
  }

 private:
  mercer_mpi& all_;
  ReturnedErrors errors_;
  int size_ = 1, rank_ = 0;
  std::vector<Word> words_;
};

void require(bool holds, mercer_status status, const char* text) {
  if (!holds) throw Failure{status, text};
}

/// The caller's struct, of a communicator on which processes can meet.
mercer_mpi& checked(void* given) {
  auto* const all = static_cast<mercer_mpi*>(given);
  int running = 0, over = 0, between = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&over);
  require(running != 0 && over == 0, MERCER_INVALID_ARGUMENT,
          "MPI is not running, expected a call between MPI_Init and MPI_Finalize");
  require(all->comm != MPI_COMM_NULL, MERCER_INVALID_ARGUMENT,
          "all->comm = MPI_COMM_NULL, expected an intracommunicator");
  MPI_Comm_test_inter(all->comm, &between);
  require(between == 0, MERCER_INVALID_ARGUMENT,
          "all->comm is an intercommunicator, expected an intracommunicator");
  require((all->state & kBroken) == 0, MERCER_IO,
          "MPI failed in an earlier call, expected another communicator");
  return *all;
}

bool is_usable(const mercer_mpi* all) {
  return all != nullptr && all->struct_size == sizeof(mercer_mpi);
}

/// Runs body; what it throws becomes all->error, after the name of the function.
template <class Body>
mercer_status guard(const char* function, mercer_mpi& all, const Body& body) noexcept {
  Failure failure{MERCER_INTERNAL, "unknown exception"};
  try {
    try {
      body();
      return MERCER_OK;
    } catch (Failure& thrown) {
      failure = std::move(thrown);
    } catch (const std::bad_alloc&) {
      failure = {MERCER_OUT_OF_MEMORY, "an allocation failed"};
    } catch (const std::exception& error) {
      failure = {MERCER_INTERNAL, error.what()};
    }
    set_error(all, std::string(function) + ": " + failure.text);
  } catch (...) {  // no memory for the text
    std::snprintf(all.error, sizeof all.error, "%s: an allocation failed", function);
  }
  all.state |= kSays;
  return failure.status;
}

/// Throws in every process where the processes have not all come for as many numbers, or one of
/// them cannot.
void check_words(mercer_mpi& all, const std::vector<Word>& words, const Word& own) {
  const std::string numbers = std::to_string(own.n) + " numbers";
  if (own.status != MERCER_OK)
    throw Failure{MERCER_OUT_OF_MEMORY, "no memory for a sum of " + numbers};
  for (size_t rank = 0; rank < words.size(); ++rank) {
    const Word& word = words[rank];
    if (word.n == own.n && word.status == MERCER_OK) continue;
    const std::string who = "rank " + std::to_string(rank);
    if (word.n != kAgrees && word.status == MERCER_OK)  // no rank's fault more than another's
      throw Failure{MERCER_INVALID_ARGUMENT, who + " sums " + std::to_string(word.n) +
                                                 " numbers, expected " + numbers +
                                                 " as in this process"};
    all.state |= kTold;
    throw Failure{MERCER_IO, who + (word.n == kAgrees ? " has ended" : " has no memory")};
  }
}

/// Buffers of a sum; the word says where there is no memory for them.
std::vector<double> buffer_of(int64_t n, int size, Word& word) {
  try {
    const int64_t chunk = n > 1 && size > 1 ? std::min(n, kChunk) + size : size;
    return std::vector<double>(static_cast<size_t>(chunk));
  } catch (const std::bad_alloc&) {
    word.status = MERCER_OUT_OF_MEMORY;
    return {};
  }
}

void sum(mercer_mpi& all, int64_t n, double* numbers) {
  Meeting meeting(all);
  all.state &= ~kTold;
  Word word{n, MERCER_OK, n == 1 ? numbers[0] : 0};
  std::vector<double> received = buffer_of(n, meeting.size(), word);
  const std::vector<Word>& words = meeting.exchange(word);
  check_words(all, words, word);
  ++all.sums;
  all.numbers += n;
  if (n == 1) {
    std::transform(words.begin(), words.end(), received.begin(),
                   [](const Word& one) { return one.value; });
    meeting.add_in_tree(received.data(), 1);
    // Before every sum libmercer asks how many processes have failed.
    if (numbers[0] == 0 && received[0] > 0) all.state |= kTold;
    numbers[0] = received[0];
    return;
  }
  for (int64_t first = 0; first < n && meeting.size() > 1; first += kChunk)
    meeting.sum(std::min(kChunk, n - first), numbers + first, received);
}

/// The words of all processes once all have come here; those that came to a sum end it and follow.
const std::vector<Word>& wait_for_all(Meeting& meeting, const Word& own) {
  for (;;) {
    const std::vector<Word>& words = meeting.exchange(own);
    if (std::all_of(words.begin(), words.end(), [](const Word& w) { return w.n == kAgrees; }))
      return words;
  }
}

/// The rank whose failure is the reason, -1 if none failed.
int failed_rank(const std::vector<Word>& words) {
  const auto failed = [](const Word& word) { return word.status != MERCER_OK; };
  auto found = std::find_if(words.begin(), words.end(),
                            [&](const Word& word) { return failed(word) && word.value == 0; });
  if (found == words.end()) found = std::find_if(words.begin(), words.end(), failed);
  return found == words.end() ? -1 : static_cast<int>(found - words.begin());
}

/// What this process says of its failure, in a copy, since all.error is written meanwhile.
std::string own_text(const mercer_mpi& all, mercer_status status, const char* text) {
  if (status == MERCER_OK) return "";
  if (text != nullptr) return text;
  return (all.state & kSays) != 0 ? all.error : mercer_last_error();
}

mercer_status agree(const char* function, mercer_mpi& all, mercer_status status, const char* text) {
  // What MPI said in a sum is the reason, and the processes no longer meet.
  const bool is_over = (all.state & kBroken) != 0 && (all.state & kSays) != 0;
  mercer_status agreed = MERCER_OK;
  const mercer_status met = is_over ? MERCER_IO : guard(function, all, [&] {
    checked(&all);
    Meeting meeting(all);
    const std::string own = own_text(all, status, text);
    const bool told = (all.state & kTold) != 0;
    const std::vector<Word>& words = wait_for_all(meeting, {kAgrees, status, told ? 1.0 : 0.0});
    const int rank = failed_rank(words);
    if (rank < 0) return;
    agreed = static_cast<mercer_status>(words[static_cast<size_t>(rank)].status);
    set_error(all, "rank " + std::to_string(rank) + ": " + meeting.text_of(rank, own.c_str()));
  });
  all.state &= ~(kTold | kSays);
  return met == MERCER_OK ? agreed : met;
}

/// The rows of one process as a source: those of another, or in memory.
class OwnRows {
 public:
  /// References are kept.
  OwnRows(mercer_mpi& all, const mercer_data& data) : all_(all), data_(data) {
    if (data.source != nullptr) {
      take_source();
      return;
    }
    require(data.X.struct_size != 0, MERCER_INVALID_ARGUMENT,
            "data has no X and no source, expected this process's rows: "
            "mercer_rows_f64(0, d, NULL) where it has none");
    require(data.X.n >= 0, MERCER_INVALID_ARGUMENT, "data->X.n < 0, expected rows or none");
  }

  /// Asks the other processes whether rows are weighted where this one has none, and how many are
  /// before those in memory.
  mercer_row_source source() {
    mercer_row_source made = inner_;
    made.struct_size = sizeof made;
    ask_others();
    made.weighted = weighted_;
    if (data_.source == nullptr) {
      made.first_row = first_row_;
      made.d = data_.X.d;
      made.m = data_.Y.struct_size == 0 ? 0 : data_.Y.d;
    }
    made.user = this;
    made.rewind = [](void* user) { return static_cast<OwnRows*>(user)->rewind(); };
    made.next = [](void* user, mercer_rows* X, mercer_rows* Y) {
      return static_cast<OwnRows*>(user)->next(X, Y);
    };
    if (inner_.skip != nullptr)
      made.skip = [](void* user, int64_t blocks) {
        const auto* const self = static_cast<OwnRows*>(user);
        return self->inner_.skip(self->inner_.user, blocks);
      };
    made.sum = [](void* user, int64_t n, double* numbers) {
      return mercer_mpi_sum(&static_cast<OwnRows*>(user)->all_, n, numbers);
    };
    return made;
  }

 private:
  void take_source() {
    const mercer_row_source& given = *data_.source;
    require(given.struct_size >= offsetof(mercer_row_source, sum), MERCER_INVALID_ARGUMENT,
            "data->source->struct_size is too small, expected sizeof(mercer_row_source)");
    std::memcpy(&inner_, &given, std::min<size_t>(given.struct_size, sizeof inner_));
    require(inner_.sum == nullptr, MERCER_INVALID_ARGUMENT,
            "data->source->sum is a callback, expected NULL: the communicator sums");
    require(inner_.rewind != nullptr && inner_.next != nullptr, MERCER_INVALID_ARGUMENT,
            "data->source->rewind or next = NULL, expected two callbacks");
    require(data_.X.struct_size == 0 && data_.Y.struct_size == 0 && data_.weights == nullptr,
            MERCER_INVALID_ARGUMENT,
            "data has X, Y or weights beside source, expected one of both");
  }

  void ask_others() {
    int size = 1, rank = 0;
    check_mpi(all_, MPI_Comm_size(all_.comm, &size), "MPI_Comm_size");
    check_mpi(all_, MPI_Comm_rank(all_.comm, &rank), "MPI_Comm_rank");
    const bool in_memory = data_.source == nullptr, counts = !in_memory || data_.X.n > 0;
    const bool own = in_memory ? data_.weights != nullptr : inner_.weighted != 0;
    // Processes with weights, without, with a source; then the rows in memory of each.
    std::vector<double> told(static_cast<size_t>(3 + size), 0.0);
    told[0] = counts && own ? 1 : 0;
    told[1] = counts && !own ? 1 : 0;
    told[2] = in_memory ? 0 : 1;
    told[static_cast<size_t>(3 + rank)] = in_memory ? static_cast<double>(data_.X.n) : 0;
    sum(all_, 3 + size, told.data());
    require(told[0] == 0 || told[1] == 0, MERCER_INVALID_ARGUMENT,
            "rows have weights in some processes and not in others, expected the same in all");
    weighted_ = told[0] > 0 ? 1 : 0;
    if (told[2] > 0) return;  // sources number their rows themselves, or not
    first_row_ = 1;
    for (int k = 0; k < rank; ++k)
      first_row_ += static_cast<int64_t>(told[static_cast<size_t>(3 + k)]);
  }

  int32_t rewind() {
    at_ = 0;
    return data_.source != nullptr ? inner_.rewind(inner_.user) : 0;
  }

  int32_t next(mercer_rows* X, mercer_rows* Y) {
    if (data_.source != nullptr) return inner_.next(inner_.user, X, Y);
    const int64_t count = std::min(kBlockRows, data_.X.n - at_);
    if (count <= 0 && at_ > 0) return 0;  // the views are empty, the end
    const mercer_status status = guard("mercer_mpi_fit", all_, [&] {
      // Of no rows, too: the library checks the views.
      *X = block_of(data_.X, count);
      if (data_.Y.struct_size == 0 && weighted_ == 0) return;
      require(data_.Y.struct_size == 0 || data_.Y.n == data_.X.n, MERCER_DIMENSION_MISMATCH,
              "data->Y.n differs from data->X.n, expected as many rows");
      *Y = weighted_ == 0 ? block_of(data_.Y, count) : with_weights(count);
    });
    at_ += count;
    return status == MERCER_OK ? 0 : 1;
  }

  mercer_rows block_of(const mercer_rows& rows, int64_t count) const {
    mercer_rows block = rows;
    block.n = count;
    const auto forward = [&](const void* from, int64_t bytes) {
      return from == nullptr ? from : static_cast<const char*>(from) + at_ * bytes;
    };
    if (rows.index != MERCER_INDEX_NONE)
      block.offsets = forward(rows.offsets, rows.index == MERCER_INDEX_I32 ? 4 : 8);
    else
      block.values = forward(rows.values, rows.ld * bytes_of(rows));
    return block;
  }

  static int64_t bytes_of(const mercer_rows& rows) {
    return rows.number == MERCER_NUMBER_F64 ? 8 : rows.number == MERCER_NUMBER_F32 ? 4 : 2;
  }

  /// Targets and, in one more column, weights.
  mercer_rows with_weights(int64_t count) {
    const int64_t m = data_.Y.struct_size == 0 ? 0 : data_.Y.d;
    require(m == 0 || (data_.Y.index == MERCER_INDEX_NONE && bytes_of(data_.Y) >= 4),
            MERCER_UNSUPPORTED,
            "data->Y is sparse or BF16, with weights, expected dense targets, F32 or F64");
    table_.resize(static_cast<size_t>(count * (m + 1)));
    for (int64_t i = 0; i < count; ++i) {
      double* const row = table_.data() + i * (m + 1);
      for (int64_t k = 0; k < m; ++k) row[k] = target(at_ + i, k);
      row[m] = data_.weights[at_ + i];
    }
    return mercer_rows_f64(count, m + 1, table_.data());
  }

  double target(int64_t row, int64_t column) const {
    const int64_t at = row * data_.Y.ld + column;
    return data_.Y.number == MERCER_NUMBER_F64 ? static_cast<const double*>(data_.Y.values)[at]
                                               : static_cast<const float*>(data_.Y.values)[at];
  }

  mercer_mpi& all_;
  const mercer_data& data_;
  mercer_row_source inner_{};
  int32_t weighted_ = 0;
  int64_t first_row_ = 0, at_ = 0;
  std::vector<double> table_;
};

mercer_data read_data(const mercer_data* given) {
  require(given != nullptr, MERCER_INVALID_ARGUMENT, "data = NULL, expected this process's rows");
  require(given->struct_size >= offsetof(mercer_data, groups), MERCER_INVALID_ARGUMENT,
          "data->struct_size is too small, expected sizeof(mercer_data)");
  mercer_data data{};
  std::memcpy(&data, given, std::min<size_t>(given->struct_size, sizeof data));
  require(data.sets == nullptr && data.set_count == 0, MERCER_UNSUPPORTED,
          "data->sets of rows that several processes share, expected rows with targets");
  require(data.groups.struct_size == 0, MERCER_UNSUPPORTED,
          "data->groups of rows that several processes share, expected none");
  return data;
}

mercer_status fit_shared(mercer_mpi& all, const char* json, const mercer_data* given,
                         mercer_context* context, mercer_model** out) {
  mercer_status fitted = MERCER_OK;
  const mercer_status status = guard("mercer_mpi_fit", all, [&] {
    checked(&all);
    require(out != nullptr, MERCER_INVALID_ARGUMENT, "out = NULL, expected a place for a model");
    const mercer_data data = read_data(given);
    OwnRows rows(all, data);
    const mercer_row_source source = rows.source();
    mercer_data shared{};
    shared.struct_size = sizeof shared;
    shared.source = &source;
    shared.map = data.map;
    shared.w = data.w;
    shared.intercept = data.intercept;
    fitted = mercer_model_fit(json, &shared, context, out);
  });
  return status == MERCER_OK ? fitted : status;
}

}  // namespace

mercer_status mercer_mpi_fit(mercer_mpi* all, const char* json, const mercer_data* data,
                             mercer_context* context, mercer_model** out) {
  if (out != nullptr) *out = nullptr;
  if (!is_usable(all)) return MERCER_INVALID_ARGUMENT;
  const mercer_status own = fit_shared(*all, json, data, context, out);
  const mercer_status agreed = agree("mercer_mpi_fit", *all, own, nullptr);
  if (agreed == MERCER_OK || out == nullptr) return agreed;
  mercer_model_free(*out);
  *out = nullptr;
  return agreed;
}

int32_t mercer_mpi_sum(void* given, int64_t n, double* numbers) {
  auto* const all = static_cast<mercer_mpi*>(given);
  if (!is_usable(all)) return 1;
  const mercer_status status = guard("mercer_mpi_sum", *all, [&] {
    checked(all);
    require(n >= 1 && numbers != nullptr, MERCER_INVALID_ARGUMENT,
            "n < 1 or numbers = NULL, expected numbers");
    sum(*all, n, numbers);
  });
  return status == MERCER_OK ? 0 : 1;
}

mercer_status mercer_mpi_agree(mercer_mpi* all, mercer_status status, const char* text) {
  return is_usable(all) ? agree("mercer_mpi_agree", *all, status, text) : MERCER_INVALID_ARGUMENT;
}
