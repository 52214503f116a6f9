// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer transform: features of rows as they are, and their map; mercer recommend: maps for rows.
#include <cinttypes>
#include <cstdio>
#include <optional>

#include "loaded_model.h"
#include "output_file.h"
#include "row_parts.h"
#include "scoring.h"

namespace mercer::cli {
namespace {

/// Of a stream, of which a block does not make what all rows would.
Map map_of_spec(const std::string& spec) {
  try {
    return Map::from_spec(spec);
  } catch (const Error& error) {
    if (std::string(error.what()).find("made from rows") == std::string::npos) throw;
    throw Failure("--stream: map " + parse_json(spec).at("map").get<std::string>() +
                  " is made from all rows, expected --read-map of one that --write-map wrote");
  }
}

/// The map of a file, or one that is made for rows of so many inputs.
Map map_of(const TransformRequest& request, const Dataset* rows, Session& session) {
  if (!request.map.empty())
    return from_file(request.map,
                     [](Span<const std::byte> bytes) { return Map::from_bytes(bytes); });
  const Dataset& data = *rows;
  const Plan plan = read_plan(request.plan);
  Json spec = parse_json(plan.map);
  spec.update({{"inputs", data.d}, {"features", request.features}, {"seed", request.seed}});
  if (plan.lengthscale > 0) spec["kernel"]["lengthscale"] = plan.lengthscale;
  return in_words_of(data.name, data.input_names, [&] {
    if (request.stream) return map_of_spec(json_text(spec));
    return Map::fit_spec(json_text(spec), inputs_of(data, 0, data.n), session.context());
  });
}

/// Features of rows as they come: .npy, or another name for CSV.
class FeatureFile {
 public:
  /// rows: how many are to come, as far as it is known.
  FeatureFile(const Map& map, const std::string& path, int64_t rows, Session& session)
      : map_(map),
        columns_(map.features() * map.outputs()),
        told_(rows),
        npy_(path.ends_with(".npy")),
        session_(session),
        file_(path) {
    std::string line;
    for (int64_t k = 0; !npy_ && k < columns_; ++k)
      line.append(k > 0 ? ",z" : "z").append(std::to_string(k + 1));
    file_.write(npy_ ? header(told_) : line + "\n");
  }
  void write(const Dataset& data) {
    constexpr int64_t kBlockNumbers = int64_t{1} << 20;
    const int64_t block = std::max<int64_t>(1, kBlockNumbers / columns_);
    for (int64_t first = 0; first < data.n; first += block)
      write(inputs_of(data, first, std::min(block, data.n - first)));
  }
  void commit() {
    if (npy_ && rows_ != told_) file_.write_at_start(header(rows_));
    file_.commit();
  }
  void flush() { file_.flush(); }
  int64_t rows() const { return rows_; }

 private:
  std::string header(int64_t rows) const {
    NpyLayout layout;
    layout.type = "<f8";
    layout.columns = columns_;
    return npy_header(layout, rows);
  }
  void write(const Rows& X) {
    Matrix<double> Z(X.rows() * map_.outputs(), map_.features());
    map_.transform(X, Z, transform_options(), session_.context());
    const double* row = std::as_const(Z).view().data;
    std::string line;
    for (int64_t i = 0; i < X.rows(); ++i, row += columns_) {
      if (npy_) {
        file_.write(
            {reinterpret_cast<const char*>(row), static_cast<size_t>(columns_) * sizeof *row});
        continue;
      }
      line.clear();
      for (int64_t k = 0; k < columns_; ++k)
        line.append(k > 0 ? "," : "").append(number_text(row[k]));
      file_.write(line += '\n');
    }
    rows_ += X.rows();
  }

  const Map& map_;
  int64_t columns_, told_, rows_ = 0;
  bool npy_;
  Session& session_;
  OutputFile file_;
};

/// "fourier sobol pair": a map and what tells it from others.
std::string map_text(const Json& map) {
  std::string text;
  for (const char* key : {"map", "allocation", "projection", "form", "kind", "field"})
    if (map.contains(key)) text += map[key].get<std::string>() + " ";
  return text;
}

/// All rows, or a block of them. Text becomes numbers where all of it is at hand.
Dataset rows_for(const TransformRequest& request, const std::optional<Map>& map,
                 ColumnRequest columns) {
  if (map) columns.least_columns = map->inputs();
  Dataset data = read_rows(request.rows, columns);
  if (request.stream && data.format == Format::libsvm && (!map || columns.index_base == "auto"))
    throw Failure(
        "--stream: " + data.name +
        " is a libsvm file, of which a block does not tell how many columns there are, nor "
        "the first one's index: expected --read-map and --index-base");
  densify_if_full(&data.X, data.n, data.d);
  // Another file would have other levels, which a map's file does not keep.
  const char* const option = !request.map.empty()       ? "--read-map: "
                             : !request.written.empty() ? "--write-map: "
                             : request.stream           ? "--stream: "
                                                        : nullptr;
  if (!data.text_inputs.empty() && option != nullptr)
    throw Failure(option + data.name + " has text, column " +
                  typed(input_name(data, data.text_inputs[0].column)) + ", whose levels " +
                  (request.map.empty() && request.written.empty() ? "a block does not hold"
                                                                  : "a map's file does not keep") +
                  " (--ignore leaves it out)");
  encode_text(&data);
  return data;
}

void tell_features(const Map& map, const TransformRequest& request, int64_t rows) {
  const Streams streams =
      streams_of(request.run, is_standard_output(request.output) ? stderr : stdout);
  if (streams.out != nullptr)
    std::fprintf(streams.out, "%s: %" PRId64 " rows, %" PRId64 " features, kernel %s\n",
                 request.output.c_str(), rows, map.features(), kernel_name(map.spec()).c_str());
  streams.print({{"output", request.output},
                 {"rows", rows},
                 {"features", map.features()},
                 {"map", parse_json(map.spec())}});
}

}  // namespace

void run_recommend(const TransformRequest& request) {
  const Plan plan = read_plan(request.plan);
  Json asked = {{"kernel", parse_json(plan.map).at("kernel")},
                {"features", request.features},
                {"taken", request.raw ? "given" : "standardized"},
                {"seed", request.seed}};
  if (plan.lengthscale > 0) asked["kernel"]["lengthscale"] = plan.lengthscale;
  if (request.error > 0) asked["error"] = request.error;
  Dataset data = read_rows(request.rows, request.columns);
  densify_if_full(&data.X, data.n, data.d);
  encode_text(&data);
  Session session(request.run);
  const Json answer = in_words_of(data.name, data.input_names, [&] {
    const Rows rows = inputs_of(data, 0, data.n);
    return parse_json(Map::recommend(json_text(asked), rows, session.context()).answer);
  });
  session.clear_bar();
  const Streams streams = streams_of(request.run, stdout);
  streams.print(answer);
  if (streams.scores == nullptr) return;
  std::fprintf(streams.scores, "%-36s %9s %8s %9s\n", "map", "features", "error", "us a row");
  for (const Json& one : answer.at("maps"))
    std::fprintf(streams.scores, "%-36s %9s %8.4f %s\n", map_text(one.at("map")).c_str(),
                 json_text(one["map"].at("features")).c_str(), number_of(one.at("error")),
                 score_number(1e6 * number_of(one.value("seconds", Json())), 9).c_str());
}

void run_transform(const TransformRequest& request) {
  check_output(request.output, request.rows);
  if (!request.written.empty()) check_output(request.written, request.rows);
  Session session(request.run);
  std::optional<Map> map;
  if (!request.map.empty()) map = map_of(request, nullptr, session);
  std::optional<FeatureFile> file;
  const auto take = [&](const ColumnRequest& columns) {
    const Dataset data = rows_for(request, map, columns);
    if (!map) map = map_of(request, &data, session);
    if (map->is_complex())
      throw Failure("--map: its features are complex numbers, expected real ones");
    if (!file) file.emplace(*map, request.output, data.n, session);
    file->write(data);
    if (request.stream) file->flush();
    return BlockHead(data);
  };
  if (request.stream)
    for_each_block(request.rows, request.columns, take);
  else
    take(request.columns);
  file->commit();
  if (!request.written.empty()) write_file(*map, request.written);
  session.clear_bar();
  tell_features(*map, request, file->rows());
}

}  // namespace mercer::cli
