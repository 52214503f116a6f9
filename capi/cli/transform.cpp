// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer transform: features of rows as they are, and their map; mercer recommend: maps for rows.
#include <cinttypes>
#include <cstdio>

#include "loaded_model.h"
#include "output_file.h"
#include "scoring.h"

namespace mercer::cli {
namespace {

/// The map of a file, or one that is made for rows of so many inputs.
Map map_of(const TransformRequest& request, const Dataset& data, Session& session) {
  if (!request.map.empty())
    return from_file(request.map,
                     [](Span<const std::byte> bytes) { return Map::from_bytes(bytes); });
  const Plan plan = read_plan(request.plan);
  Json spec = parse_json(plan.map);
  spec.update({{"inputs", data.d}, {"features", request.features}, {"seed", request.seed}});
  if (plan.lengthscale > 0) spec["kernel"]["lengthscale"] = plan.lengthscale;
  return in_words_of(data.name, data.input_names, [&] {
    return Map::fit_spec(json_text(spec), inputs_of(data, 0, data.n), session.context());
  });
}

std::string npy_header(int64_t rows, int64_t columns) {
  std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
                     ", " + std::to_string(columns) + "), }";
  constexpr size_t kStart = 10, kBlock = 64;  // the data is aligned
  text.append(kBlock - (kStart + text.size() + 1) % kBlock, ' ').push_back('\n');
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size() & 0xff) +
         static_cast<char>(text.size() >> 8) + text;
}

void write_features(const Map& map, const Dataset& data, const std::string& path,
                    Session& session) {
  constexpr int64_t kBlockNumbers = int64_t{1} << 20;
  const int64_t D = map.features() * map.outputs();
  const bool npy = path.ends_with(".npy");
  OutputFile file(path);
  if (npy) file.write(npy_header(data.n, D));
  std::string line;
  for (int64_t k = 0; !npy && k < D; ++k)
    line.append(k > 0 ? ",z" : "z").append(std::to_string(k + 1));
  if (!npy) file.write(line + "\n");
  const int64_t block = std::max<int64_t>(1, kBlockNumbers / D);
  for (int64_t first = 0; first < data.n; first += block) {
    const int64_t count = std::min(block, data.n - first);
    Matrix<double> Z(count * map.outputs(), map.features());
    map.transform(inputs_of(data, first, count), Z, transform_options(), session.context());
    const MatrixView<const double> numbers = std::as_const(Z).view();
    for (int64_t i = 0; i < count; ++i) {
      const double* row = numbers.data + i * D;
      if (npy) {
        file.write({reinterpret_cast<const char*>(row), static_cast<size_t>(D) * sizeof *row});
        continue;
      }
      line.clear();
      for (int64_t k = 0; k < D; ++k) line.append(k > 0 ? "," : "").append(number_text(row[k]));
      file.write(line += '\n');
    }
  }
  file.commit();
}

/// "fourier sobol pair": a map and what tells it from others.
std::string map_text(const Json& map) {
  std::string text;
  for (const char* key : {"map", "allocation", "projection", "form", "kind", "field"})
    if (map.contains(key)) text += map[key].get<std::string>() + " ";
  return text;
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
  Dataset data = read_rows(request.rows, request.columns);
  densify_if_full(&data.X, data.n, data.d);
  // Another file would have other levels, which a map's file does not keep.
  if (!data.text_inputs.empty() && !(request.map.empty() && request.written.empty()))
    throw Failure((request.map.empty() ? "--write-map: " : "--read-map: ") + data.name +
                  " has text, column " + typed(input_name(data, data.text_inputs[0].column)) +
                  ", whose levels a map's file does not keep (--ignore leaves it out)");
  encode_text(&data);
  Session session(request.run);
  const Map map = map_of(request, data, session);
  if (map.is_complex())
    throw Failure("--map: its features are complex numbers, expected real ones");
  write_features(map, data, request.output, session);
  if (!request.written.empty()) write_file(map, request.written);
  session.clear_bar();
  const Streams streams =
      streams_of(request.run, is_standard_output(request.output) ? stderr : stdout);
  if (streams.out != nullptr)
    std::fprintf(streams.out, "%s: %" PRId64 " rows, %" PRId64 " features, kernel %s\n",
                 request.output.c_str(), data.n, map.features(), kernel_name(map.spec()).c_str());
  streams.print({{"output", request.output},
                 {"rows", data.n},
                 {"features", map.features()},
                 {"map", parse_json(map.spec())}});
}

}  // namespace mercer::cli
