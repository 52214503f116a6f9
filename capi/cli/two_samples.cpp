// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer mmd, kid and hsic: whether two files have one distribution, or their rows depend on each
// other. The library scales columns and chooses kernels; here are the files and the report.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>

#include "loaded_model.h"
#include "output_file.h"
#include "report/document.h"
#include "report/page.h"
#include "row_parts.h"
#include "scoring.h"

namespace mercer::cli {
namespace {

constexpr int64_t kRowsTold = 5;         // of each file, that differ most
constexpr int64_t kRowsDrawn = 100'000;  // in a report, at most
constexpr double kBins = 40;

using Samples = std::array<Dataset, 2>;
using Facts = std::vector<std::pair<std::string, std::string>>;

Samples read_samples(const TwoSampleRequest& request) {
  const auto& [first, second] = request.rows;
  if (first == "-" && second == "-") throw Failure("both files are standard input");
  const bool pairs = request.spec.at("test") == "hsic";
  const bool labels = request.spec.value("labels", false);
  Table column = labels ? read_column(second, true) : Table();
  column.text = false;              // but numbers of texts
  std::vector<std::string> absent;  // from the first file, which may lack what --ignore names
  Dataset x = read_rows(first, request.columns, labels ? nullptr : &absent),
          y = labels ? take_columns(std::move(column), {{0}, {}, {}, {}, {}})
                     : read_rows(second, request.columns, &absent, &x, !pairs);
  if (!pairs && x.X.sparse && y.X.sparse) x.d = y.d = std::max(x.d, y.d);
  for (Dataset* rows : {&x, &y}) densify_if_full(&rows->X, rows->n, rows->d);
  if (!pairs && x.d == y.d) encode_text(&x, &y);
  for (Dataset* rows : {&x, &y})
    if (pairs) encode_text(rows);
  if (pairs ? x.n != y.n : x.d != y.d)
    fail_at(y.name, 0, 0,
            counted(pairs ? y.n : y.d, pairs ? "row" : "column") + ", expected " +
                std::to_string(pairs ? x.n : x.d) + " as in " + x.name);
  return {std::move(x), std::move(y)};
}

std::string file_of(const Json& answer, const std::string& side) { return answer[side]["file"]; }

/// Greatest distance of two distribution functions, each of sorted numbers.
double distance_of(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size()), m = static_cast<double>(y.size());
  double most = 0;
  for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    const double at = std::min(x[i], y[j]);
    while (i < x.size() && x[i] == at) ++i;
    while (j < y.size() && y[j] == at) ++j;
    most = std::max(most, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  return most;
}

/// The distance of each column's distributions in both files and its p-value, that of any of as many
/// columns (Bonferroni), the most distant first: n m/(n + m) d^2 bounds it (Massart 1990).
Json columns_of(const Samples& samples) {
  const auto& [x, y] = samples;
  std::vector<Json> columns;
  const auto n = static_cast<double>(x.n), m = static_cast<double>(y.n);
  const auto sorted = [](const Dataset& data, int64_t j) {
    std::vector<double> column;
    for (int64_t i = 0; i < data.n; ++i) column.push_back(data.X.at(i * data.d + j));
    std::ranges::sort(column);
    return column;
  };
  for (int64_t j = 0; j < x.d; ++j) {
    const double distance = distance_of(sorted(x, j), sorted(y, j));
    const double p = 2 * std::exp(-2 * n * m / (n + m) * distance * distance);
    columns.push_back({{"name", input_name(x, j)},
                       {"distance", distance},
                       {"p_value", std::min(1.0, p * static_cast<double>(x.d))}});
  }
  std::ranges::stable_sort(columns, std::greater(),
                           [](const Json& one) { return number_of(one["distance"]); });
  return columns;
}

/// call(), whose failure names the file at fault: Y is the second one, and has no targets.
auto of_two_files(const Dataset& x, const Dataset& y, const auto& call) {
  try {
    return call();
  } catch (const Error& error) {
    Json fields = parse_json(error.fields());
    const std::string argument = fields.value("argument", "");
    const bool other = argument == "Y";
    if (other) fields["argument"] = "X";
    const Dataset& at_fault = other ? y : x;
    in_words_of(other || argument == "X" ? at_fault.name : x.name + ", " + y.name,
                at_fault.input_names,
                [&] { throw Error(error.status(), error.what(), json_text(fields)); });
    throw;
  }
}

/// As the library answers, but rows count from 1; and what the files are.
Json answer_of(const TwoSampleRequest& request, const Samples& samples) {
  const auto& [x, y] = samples;
  Session session(request.run);
  Json spec = request.spec;
  const int64_t most =
      request.report.empty() ? kRowsTold : std::min(std::max(x.n, y.n), kRowsDrawn);
  if (spec["test"] == "mmd") spec["witnesses"] = most;
  Json answer = of_two_files(x, y, [&] {
    return parse_json(rows_test(json_text(spec), inputs_of(x, 0, x.n), inputs_of(y, 0, y.n),
                                session.context(), (size_t{1} << 20) + 200 * most));
  });
  for (const char* key : {"x_rows", "y_rows"})
    if (answer.contains(key))
      for (Json& row : answer[key]) row = row.get<int64_t>() + 1;
  if (spec["test"] == "mmd" && !x.X.sparse && !y.X.sparse) answer["columns"] = columns_of(samples);
  for (const Dataset& one : samples)
    answer[&one == &x ? "x" : "y"] = {{"file", one.name}, {"rows", one.n}, {"columns", one.d}};
  return answer;
}

// Of more rows than memory holds.

constexpr int64_t kPilotRows = 4000;  // of both files, whose median distance is the bandwidth

struct StreamedFile {
  RowParts parts;
  ColumnRequest columns;  // of a block, without its content
  Dataset pilot = {};
  int64_t n = 0;
};

/// Calls body(rows) for every block. other: the first file's pilot, of the second one.
void for_each_part(StreamedFile* file, const Dataset* other,
                   const std::function<void(const Dataset&)>& body) {
  PartBlock block;
  for (file->parts.rewind(); file->parts.next(&block);) {
    ColumnRequest columns = file->columns;
    columns.content = &block.content;
    columns.rows_line = block.line;
    std::vector<std::string> absent;
    const Dataset rows = read_rows(block.path, columns, &absent, other, other != nullptr);
    if (!rows.text_inputs.empty())
      throw Failure("--stream: " + rows.name + " has text, column " +
                    typed(input_name(rows, rows.text_inputs[0].column)) +
                    ", whose levels a block does not hold (--ignore leaves it out)");
    if (rows.n > 0) body(rows);
  }
}

/// Counts the rows of both files, then draws the pilot: each row is as likely, whichever file it is
/// of.
std::vector<StreamedFile> streamed_files(const TwoSampleRequest& request) {
  std::vector<StreamedFile> files;
  for (const std::string& path : request.rows) {
    RowParts parts(path, request.columns);
    const ColumnRequest columns = parts.columns();
    files.push_back({std::move(parts), columns});
  }
  int64_t& least = files[0].columns.least_columns;
  least = files[1].columns.least_columns = std::max(least, files[1].columns.least_columns);
  for (StreamedFile& file : files)
    for_each_part(&file, nullptr, [&](const Dataset& rows) { file.n += rows.n; });
  std::vector<std::string> absent;
  const int64_t all = files[0].n + files[1].n;
  uint64_t seed = request.spec.value("seed", uint64_t{0});
  for (StreamedFile& file : files) {
    const bool second = &file == &files[1];
    // Of a small file some rows at least.
    const int64_t most = std::max<int64_t>(50, file.n * kPilotRows / std::max<int64_t>(all, 1));
    const std::string sample = file.parts.sample(most, seed);
    ColumnRequest columns = file.columns;
    columns.content = &sample;
    file.pilot = read_rows(request.rows[second ? 1 : 0], columns, &absent,
                           second ? &files[0].pilot : nullptr, second);
    seed = ~seed;
  }
  return files;
}

/// The answer from sums of features, which need no rows at once.
Json streamed_answer(const TwoSampleRequest& request) {
  Session session(request.run);
  std::vector<StreamedFile> files = streamed_files(request);
  Dataset &x = files[0].pilot, &y = files[1].pilot;
  if (x.d != y.d)
    fail_at(y.name, 0, 0,
            counted(y.d, "column") + ", expected " + std::to_string(x.d) + " as in " + x.name);
  RowsSums sums = of_two_files(x, y, [&] {
    return RowsSums(json_text(request.spec), files[0].n, files[1].n, inputs_of(x, 0, x.n),
                    inputs_of(y, 0, y.n), session.context());
  });
  for (int32_t side = 0; side < 2; ++side) {
    int64_t first = 0;
    for_each_part(&files[side], side == 0 ? nullptr : &x, [&](const Dataset& rows) {
      in_words_of(rows.name, x.input_names,
                  [&] { sums.add(side, first, inputs_of(rows, 0, rows.n), session.context()); });
      first += rows.n;
    });
  }
  Json answer = of_two_files(x, y, [&] { return parse_json(sums.answer(session.context())); });
  for (const StreamedFile& file : files)
    answer[&file == &files[0] ? "x" : "y"] = {
        {"file", file.pilot.name}, {"rows", file.n}, {"columns", file.pilot.d}};
  return answer;
}

/// What the p-value means, and where files differ, in which columns.
std::string conclusion_of(const Json& answer) {
  constexpr double kLevel = 0.05;
  const Json p = answer.value("p_value", Json());
  if (p.is_null()) return "";
  const bool small = number_of(p) <= kLevel, pairs = answer["test"] == "hsic";
  if (pairs) return small ? "the files depend on each other" : "no dependence is seen";
  if (!small) return "no difference is seen";
  std::vector<std::string> told;
  for (const Json& one : answer.value("columns", Json::array()))
    if (number_of(one["p_value"]) <= kLevel)
      told.push_back(one["name"].get<std::string>() + " " + rounded(number_of(one["distance"]), 2));
  std::string text = "the files differ";
  if (!answer.contains("columns")) return text;
  return text + (told.empty() ? ", in no column by itself"
                              : "; columns by the distance of their distributions, from 0 to 1: " +
                                    listed(told, 8));
}

Facts facts_of(const Json& answer) {
  const auto number = [&](const char* key) {
    const Json value = answer.value(key, Json());
    return value.is_null() ? "not defined" : rounded(value.get<double>(), 4);
  };
  const std::string test = answer.at("test"), key = test == "mmd" ? "mmd2" : test;
  const std::string permutations = json_text(answer.at("permutations"));
  const auto kernels = std::ssize(answer.value("by_kernel", Json::array({nullptr})));
  const std::string by = permutations == "0" ? "the gamma limit" : permutations + " permutations";
  Facts facts = {{"p-value", number("p_value") + ", by " + by},
                 {"effect", number("effect")},
                 {key, number(key.c_str())},
                 {"kernels", std::to_string(kernels)},
                 {"features", answer.value("exact", false) ? "exact" : number("features")}};
  if (test != "hsic") facts[2].second += " +- " + number("standard_error");
  const std::string conclusion = conclusion_of(answer);
  if (!conclusion.empty()) facts.insert(facts.begin() + 1, {"at the level .05", conclusion});
  for (const std::string side : {"x", "y"}) {
    std::vector<std::string> rows;
    for (const Json& row : answer.value(side + "_rows", Json::array()))
      rows.push_back(json_text(row));
    rows.resize(std::min(rows.size(), size_t{kRowsTold}));
    if (!rows.empty())
      facts.emplace_back("rows of " + file_of(answer, side) + " least like the other's",
                         listed(rows));
  }
  return facts;
}

/// Shares of each file's rows over the witness.
std::string witness_chart(const Json& answer) {
  const std::vector<double> x = answer.at("x_witness"), y = answer.at("y_witness");  // sorted
  const double high = std::max(x.front(), y.back()), low = std::min(x.back(), y.front());
  std::vector<Series> all;
  for (const std::string side : {"x", "y"}) {
    Series one{file_of(answer, side), {}, std::vector<double>(kBins), true};
    for (double k = 0; k < kBins; ++k) one.x.push_back(low + (high - low) * (k + 0.5) / kBins);
    for (const double value : side == "x" ? x : y) {
      const double at = high > low ? kBins * (value - low) / (high - low) : 0;
      one.y[std::min(at, kBins - 1)] += 1 / answer[side]["rows"].get<double>();
    }
    all.push_back(std::move(one));
  }
  return chart({"where the files differ", "witness", "share of rows"}, all);
}

std::string page_of(const Json& answer) {
  const std::string x = file_of(answer, "x"), y = file_of(answer, "y");
  const auto drawn = [&](const std::string& side) {
    return std::to_string(answer.at(side + "_rows").size()) + " of the " +
           counted(answer[side]["rows"], "row") + " of " + file_of(answer, side);
  };
  Page page("mercer mmd " + x + " " + y);
  page.facts(facts_of(answer));
  page.figure(witness_chart(answer),
              "The witness of a row is the mean of the kernel to the rows of " + x +
                  " less that to those of " + y + ". Drawn are " + drawn("x") + " and " +
                  drawn("y") + ".");
  return page.text();
}

}  // namespace

void run_two_samples(const TwoSampleRequest& request) {
  for (const std::string& file : request.rows)
    if (!request.report.empty()) check_output(request.report, file);
  const Streams streams = streams_of(request.run, stdout);
  Json answer =
      request.stream ? streamed_answer(request) : answer_of(request, read_samples(request));
  if (!request.report.empty()) write_report(request.report, answer, page_of);
  for (const char* key : {"x_rows", "y_rows", "x_witness", "y_witness"})
    if (answer.contains(key) && std::ssize(answer[key]) > kRowsTold)
      answer[key].erase(answer[key].begin() + kRowsTold, answer[key].end());
  for (const char* side : {"x", "y"})
    if (streams.out != nullptr)
      std::fprintf(streams.out, "%s: %s, %s\n", file_of(answer, side).c_str(),
                   counted(answer[side]["rows"], "row").c_str(),
                   counted(answer[side]["columns"], "column").c_str());
  if (streams.scores != nullptr)
    for (const auto& [name, value] : facts_of(answer))
      std::fprintf(streams.scores, "%s: %s\n", name.c_str(), value.c_str());
  streams.print(answer);
}

}  // namespace mercer::cli
