// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// fit --stream: a sample of the file's lines says what its columns are, as a file of them would;
// then the rows are read block by block, as a test file's are, as often as the fit asks for them.
#include <cmath>
#include <map>

#include "failure.h"
#include "fitting.h"
#include "message.h"
#include "read/records.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kSampledLines = 40000;

/// The head, and the lines below it of the smallest hash of seed and number, in their order.
std::string sample_of(RecordBlocks& file, uint64_t seed) {
  std::map<uint64_t, std::pair<int64_t, std::string>> kept;  // by hash: number and line
  std::string rows, text = file.head();
  int64_t number = 0, line = 0;
  for (file.rewind(); file.next(&rows, &line);)
    for (std::string_view left = rows; !left.empty(); ++number) {
      const size_t end = end_of_record(left, true);
      const std::string_view record = left.substr(0, end > 0 ? end : left.size());
      left.remove_prefix(record.size());
      const uint64_t hash = splitmix64(&seed);
      if (std::ssize(kept) == kSampledLines && hash > kept.rbegin()->first) continue;
      kept[hash] = {number, std::string(record)};
      if (std::ssize(kept) > kSampledLines) kept.erase(std::prev(kept.end()));
    }
  std::map<int64_t, std::string> in_order;
  for (auto& [hash, one] : kept) in_order.emplace(one.first, std::move(one.second));
  for (const auto& [place, record] : in_order) text += record;
  return text;
}

/// The rows of a file as a training set has them.
class FileSource final : public RowSource {
 public:
  FileSource(const LearnRequest& request, const TrainingSet& set)
      : request_(request), set_(set), file_(request.train, true), columns_(request.columns) {
    file_.begin_rows_at(set.data.rows_at);
    columns_.header = set.data.input_names.empty() ? "no" : "yes";
  }
  int64_t inputs() const override { return set_.data.d; }
  int64_t targets() const override { return set_.data.m; }
  bool weighted() const override { return !set_.data.weights_name.empty(); }
  void rewind() override { file_.rewind(); }
  std::optional<Block> next() override {
    std::string rows;
    for (data_.n = 0; data_.n == 0;) {
      if (!file_.next(&rows, &columns_.rows_line)) return std::nullopt;
      read(file_.head() + rows);
    }
    const int64_t columns = std::ssize(targets_) / data_.n;
    return Block{inputs_of(data_, 0, data_.n),
                 MatrixView<const double>(targets_.data(), data_.n, columns)};
  }

 private:
  void read(const std::string& text) {
    const Metadata& metadata = set_.metadata;
    columns_.content = &text;
    data_ = read_test(request_.train, "", metadata, file_inputs(metadata, set_.data.d), columns_);
    if (set_.K > 0 && number_known_classes(metadata.classes, metadata.text_labels, &data_) > 0)
      fail_at(
          data_.name, columns_.rows_line, 0,
          "from here on there is a class that none of the sampled lines has, expected rows of such "
          "classes left out, or --stream");
    if (set_.K > 0 || !request_.loss().empty())
      leave_out_rows(&data_, std::vector(data_.Y), std::nan(""));
    encode(metadata.encodings, &data_);
    targets_.clear();
    for (int64_t i = 0; i < data_.n; ++i) {
      const auto y = data_.Y.begin() + i * data_.m;
      targets_.insert(targets_.end(), y, y + data_.m);
      if (weighted()) targets_.push_back(data_.weights[i]);
    }
  }

  const LearnRequest& request_;
  const TrainingSet& set_;
  RecordBlocks file_;
  ColumnRequest columns_;
  Dataset data_;
  std::vector<double> targets_;
};

}  // namespace

TrainingSet read_streamed(const FitRequest& request, const Streams& streams) {
  LearnRequest learn = request.learn;
  for (const auto& [given, option] : {std::pair{!learn.targets.labels.empty(), "--labels"},
                                      {!learn.columns.groups.empty(), "--groups"},
                                      {learn.ordered, "--ordered"},
                                      {request.test_fraction > 0, "--test-fraction"},
                                      {!request.report.empty(), "--report"},
                                      {!request.operation.empty(), "--operator"}})
    if (given) throw Failure(std::string(option) + " with --stream: it needs rows in memory");
  RecordBlocks file(learn.train, true);
  ColumnRequest columns = learn.columns;
  columns.content = &file.start();
  columns.missing = learn.fills();
  TargetRequest targets = learn.targets;
  targets.as_text = learn.task == "classification";
  targets.gaps = learn.gaps;
  const Dataset first = read_training(learn.train, targets, columns);
  if (first.format != Format::csv) throw Failure(first.name + ": --stream reads CSV, not libsvm");
  file.begin_rows_at(first.rows_at);
  const std::string sample = sample_of(file, learn.seed);
  learn.columns.content = &sample;
  if (streams.out != nullptr)
    std::fprintf(streams.out, "at most %ld lines say what the columns hold:\n", kSampledLines);
  return read_training_set(learn, streams);
}

Model fit_stream(const Json& spec, const LearnRequest& request, TrainingSet* set,
                 Session& session) {
  FileSource source(request, *set);
  Model model = in_words_of(set->data.name, input_names(set->metadata), [&] {
    return Model::fit(json_text(spec), Data(source), session.context());
  });
  const Json report = parse_json(model.report());
  for (const Json& trial : report.at("trials"))
    if (trial.at("stage") == "final") set->data.n = trial.at("rows");
  return model;
}

}  // namespace mercer::cli
