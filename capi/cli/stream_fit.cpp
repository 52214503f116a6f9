// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// fit --stream: a sample of the file's lines says what its columns are, as a file of them would;
// then the rows are read block by block, as a test file's are, as often as the fit asks for them.
#include "stream_fit.h"

#include <cmath>
#include <optional>
#include <utility>

#include "message.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kSampledLines = 40000;

/// The rows of a file as a training set has them.
class FileSource final : public RowSource {
 public:
  FileSource(const LearnRequest& request, const TrainingSet& set, RecordBlocks& file)
      : request_(request), set_(set), file_(file), columns_(request.columns) {
    columns_.header = set.data.input_names.empty() ? "no" : "yes";
    drops_ = set.K > 0 || !request.loss().empty();
  }
  int64_t inputs() const override { return set_.data.d; }
  int64_t targets() const override { return set_.data.m; }
  bool weighted() const override { return !set_.data.weights_name.empty(); }
  void rewind() override { file_.rewind(); }
  std::optional<Block> next() override {
    std::string rows;
    for (int64_t line = 0; file_.next(&rows, &line);) {
      read(file_.head() + rows, line);
      if (data_.n == 0) continue;
      return Block{
          inputs_of(data_, 0, data_.n),
          MatrixView<const double>(targets_.data(), data_.n, std::ssize(targets_) / data_.n)};
    }
    return std::nullopt;
  }

 private:
  void read(const std::string& text, int64_t line) {
    columns_.content = &text;
    columns_.rows_line = line;
    const Metadata& metadata = set_.metadata;
    data_ = read_test(request_.train, "", metadata, file_inputs(metadata, set_.data.d), columns_);
    if (metadata.classification) {
      const int64_t unknown = number_known_classes(metadata.classes, metadata.text_labels, &data_);
      if (unknown > 0)
        fail_at(data_.name, 0, 0,
                counted(unknown, "row") + " from line " + std::to_string(line) +
                    " on of a class that none of " + std::to_string(kSampledLines) +
                    " sampled lines has: without --stream all classes are found");
    }
    if (drops_) leave_out_rows(&data_, std::vector(data_.Y), std::nan(""));
    encode(metadata.encodings, &data_);
    targets_.clear();
    for (int64_t i = 0; i < data_.n; ++i) {
      targets_.insert(targets_.end(), data_.Y.begin() + i * data_.m,
                      data_.Y.begin() + (i + 1) * data_.m);
      if (weighted()) targets_.push_back(data_.weights[i]);
    }
  }

  const LearnRequest& request_;
  const TrainingSet& set_;
  RecordBlocks& file_;
  ColumnRequest columns_;
  bool drops_;  // rows without a target
  Dataset data_;
  std::vector<double> targets_;
};

}  // namespace

void check_stream(const FitRequest& request) {
  const auto refuse = [](bool given, const char* option, const char* why) {
    if (given) throw Failure(std::string(option) + " with --stream: " + why);
  };
  const LearnRequest& learn = request.learn;
  refuse(!learn.targets.labels.empty(), "--labels", "put the labels into the file");
  refuse(!learn.columns.groups.empty(), "--groups", "groups are kept apart among rows in memory");
  refuse(learn.ordered, "--ordered", "the search is of a sample of rows of all times");
  refuse(request.test_fraction > 0, "--test-fraction",
         "rows that no choice has seen give the honest score");
  refuse(!request.report.empty(), "--report", "its curves are of rows in memory");
  refuse(!request.operation.empty(), "--operator", "outputs are related by rows in memory");
}

StreamedFile::StreamedFile(const LearnRequest& request) : blocks(request.train) {
  ColumnRequest columns = request.columns;
  columns.content = &blocks.start();
  TargetRequest targets = request.targets;
  targets.as_text = request.task == "classification";
  targets.gaps = request.gaps;
  columns.missing = request.fills();
  const Dataset first = read_training(request.train, targets, columns);
  if (first.format != Format::csv) throw Failure(first.name + ": --stream reads CSV, not libsvm");
  blocks.begin_rows_at(first.rows_at);
  sample = blocks.is_whole() ? blocks.start() : blocks.sample(kSampledLines, request.seed);
}

TrainingSet StreamedFile::training_set(const LearnRequest& request, const Streams& streams) const {
  LearnRequest of_sample = request;
  of_sample.columns.content = &sample;
  if (!blocks.is_whole() && streams.out != nullptr)
    std::fprintf(streams.out, "%s is streamed; %ld lines of it say what its columns hold:\n",
                 request.train.c_str(), kSampledLines);
  return read_training_set(of_sample, streams);
}

Model fit_stream(const Json& spec, const LearnRequest& request, const TrainingSet& set,
                 StreamedFile& file, Session& session, const TrialCallback& tell) {
  session.context()->tell_trials(
      tell ? Context::Trial([&](const std::string& trial) { tell(parse_json(trial)); })
           : Context::Trial());
  FileSource source(request, set, file.blocks);
  return in_words_of(set.data.name, input_names(set.metadata),
                     [&] { return Model::fit(json_text(spec), Data(source), session.context()); });
}

int64_t rows_fitted(const Model& model) {
  int64_t rows = 0;
  const Json report = parse_json(model.report());
  for (const Json& trial : report.at("trials"))
    if (trial.at("stage") == "final") rows = trial.at("rows");
  return rows;
}

}  // namespace mercer::cli
