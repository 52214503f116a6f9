// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer update: adds rows to a model that keeps the sums of its rows, or takes some away.
#include <cinttypes>
#include <cstdio>

#include "loaded_model.h"
#include "output_file.h"
#include "scoring.h"

namespace mercer::cli {

void run_update(const ApplyRequest& request) {
  const bool to_stdout = is_standard_output(request.output);
  const Streams streams = streams_of(request.run, to_stdout ? stderr : stdout);
  const LoadedModel loaded = load_model(request.model);
  RowNotes notes;
  Dataset rows = read_rows_for(loaded, request, streams.warnings, &notes);
  if (rows.m == 0) fail_at(rows.name, 0, 0, "no target, which an update learns from");
  const int64_t unknown = match_targets(loaded, &rows);
  if (unknown > 0)
    fail_at(rows.name, 0, 0,
            std::to_string(unknown) + " rows of classes that the model does not know");
  require_targets(rows);
  Session session(request.run);
  const Predictions before = apply(loaded, rows, request, session, &notes);
  notes.tell(loaded, request.extrapolation, streams.warnings);
  const Scoring scoring = scoring_of(loaded.model);
  const double score =
      prediction_score(before.scores, targets_of(rows, 0, rows.n), loaded.model.classes(),
                       scoring.options(score_options_of(rows.weights, 0)));
  const Model model = in_words_of(
      rows.name, input_names(loaded.metadata),
      [&] {
        const Data data = Data(inputs_of(rows, 0, rows.n), targets_of(rows, 0, rows.n))
                              .weights({rows.weights.data(), std::ssize(rows.weights)});
        const Json spec = {{"decay", request.decay}, {"remove", request.remove}};
        return loaded.model.update(json_text(spec), data, session.context());
      },
      rows.file_rows);
  session.clear_bar();
  write_file(model, request.output);
  const int64_t n = model.info().rows;
  if (streams.out != nullptr && !request.remove)
    std::fprintf(streams.out, "before the update: %s on these rows\n", scoring.text(score).c_str());
  if (streams.out != nullptr)
    std::fprintf(streams.out, "%s %" PRId64 " rows: a model of %" PRId64 ", lambda %g, wrote %s\n",
                 request.remove ? "removed" : "added", rows.n, n, model.lambda(),
                 to_stdout ? "standard output" : request.output.c_str());
  streams.print({{"rows", n},
                 {"score_before", score},
                 {"lambda", model.lambda()},
                 {"model", request.output}});
}

}  // namespace mercer::cli
