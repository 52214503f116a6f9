// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer relevance: the inputs of a model in the order in which they move its predictions, as bars
// of text, a page or JSON.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "commands.h"
#include "failure.h"
#include "json.h"
#include "loaded_model.h"
#include "output_file.h"
#include "relevance_measure.h"
#include "report/page.h"
#include "session.h"

namespace mercer::cli {

namespace {

constexpr size_t kShown = 40;
constexpr int kBarWidth = 40;

void print(const Relevance& inputs) {
  size_t width = 0;
  const size_t shown = std::min(kShown, inputs.names.size());
  for (size_t k = 0; k < shown; ++k) width = std::max(width, inputs.names[k].size());
  const double largest = inputs.values.empty() ? 0 : inputs.values[0];
  for (size_t k = 0; k < shown; ++k) {
    const double part = largest > 0 ? inputs.values[k] / largest : 0;
    const auto bar = static_cast<size_t>(std::lround(part * kBarWidth));
    std::printf("%-*s %9.4f %s\n", static_cast<int>(width), inputs.names[k].c_str(),
                inputs.values[k], std::string(bar, '#').c_str());
  }
  if (shown < inputs.names.size())
    std::printf("and %zu more, each at most %.4f\n", inputs.names.size() - shown,
                inputs.values[shown]);
}

std::string page_of(const Relevance& inputs, const std::string& rows, int64_t n) {
  Page page("Relevance of inputs");
  page.facts({{"rows", rows + ", " + std::to_string(n)}});
  Relevance most = inputs;
  most.names.resize(std::min(kShown, most.names.size()));
  most.values.resize(most.names.size());
  page.figure(
      bars("relevance", most.names, most.values),
      "By how many of its standard deviations the prediction moves when an input is given another "
      "row's value, over the square root of 2: of a linear model when it moves by one of its own" +
          std::string(most.names.size() < inputs.names.size() ? "; the 40 largest" : ""));
  return page.text();
}

Json document_of(const Relevance& inputs, const std::string& rows, int64_t n) {
  return {{"data", rows},
          {"rows", n},
          {"inputs", inputs.names},
          {"measure", "switching"},
          {"relevance", inputs.values}};
}

}  // namespace

void run_relevance(const ApplyRequest& request) {
  if (!request.output.empty()) {
    check_output(request.output, request.rows);
    check_output(request.output, request.model);
  }
  const LoadedModel loaded = load_model(request.model);
  Dataset data = read_rows_for(loaded, request, stderr);
  if (data.n == 0) fail_at(data.name, 0, 0, "no rows");
  // Slopes count by how far the inputs of these rows lie apart.
  if (data.n == 1) fail_at(data.name, 0, 0, "one row, expected at least 2 that differ");
  Session session(request.run);
  const Relevance inputs = relevance_of(loaded.model, loaded.metadata, data, session);
  session.clear_bar();
  const Json document = document_of(inputs, data.name, data.n);
  streams_of(request.run, stdout).print(document);
  if (!request.run.json && !is_standard_output(request.output)) print(inputs);
  if (request.output.empty()) return;
  OutputFile file(request.output);
  file.write(request.output.ends_with(".html") ? page_of(inputs, data.name, data.n)
                                               : json_text(document, 1) + "\n");
  file.commit();
}

}  // namespace mercer::cli
