// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// fit --stream: a sample of the rows says what their columns are, as a file of them would; then all
// are read block by block, as a test file's are, as often as the fit asks for them. Of several
// processes each does so with rows of its own.
#include <cmath>
#include <cstdio>

#include "failure.h"
#include "fitting.h"
#include "message.h"
#include "processes.h"
#include "row_parts.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kSampledLines = 40000;

ColumnRequest columns_of(const LearnRequest& request) {
  ColumnRequest columns = request.columns;
  columns.missing = request.fills();
  return columns;
}

/// That of this process; empty: none.
std::string checkpoint_of(const FitRequest& request) {
  const std::vector<std::string> all = checkpoints_of(request);
  return all.empty() ? "" : all[static_cast<size_t>(processes().rank())];
}

/// The rows of files, or a process's share of them, as a training set has them.
class FileSource final : public RowSource {
 public:
  FileSource(const FitRequest& request, const TrainingSet& set)
      : request_(request.learn),
        set_(set),
        checkpoint_(checkpoint_of(request)),
        parts_(request_.train, columns_of(request_)) {
    if (!shared()) return;
    int64_t own = 0;
    for (parts_.rewind(); next();) own += data_.n;
    first_row_ = 1 + processes().count_of(own).before;
  }
  int64_t inputs() const override { return set_.data.d; }
  int64_t targets() const override { return set_.data.m; }
  bool weighted() const override { return !set_.data.weights_name.empty(); }
  bool shared() const override { return processes().shares(); }
  void sum(Span<double> numbers) override {
    processes().sum({numbers.data(), static_cast<size_t>(numbers.size())});
  }
  int64_t first_row() const override { return first_row_; }
  std::string checkpoint() const override { return checkpoint_; }
  /// The files, this process's share of them, and all that says how they are read.
  std::string identity() const override {
    const ColumnRequest& columns = request_.columns;
    const Json how = {metadata_text(set_.metadata),
                      request_.task,
                      request_.targets.targets,
                      request_.gaps,
                      columns.delimiter,
                      columns.header,
                      columns.decimal,
                      columns.ignore,
                      columns.text,
                      columns.dates,
                      columns.numbers,
                      columns.skip,
                      columns.missing_words,
                      columns.weights,
                      parts_.columns().index_base,
                      processes().rank(),
                      processes().count()};
    return parts_.identity() + json_text(how);
  }
  void rewind() override { parts_.rewind(); }
  void skip(int64_t blocks) override {
    while (blocks > 0) blocks -= parts_.skip() ? 1 : 0;
  }
  std::optional<Block> next() override {
    PartBlock block;
    for (data_.n = 0; data_.n == 0;) {
      if (!parts_.next(&block)) return std::nullopt;
      read(block);
    }
    const int64_t columns = std::ssize(targets_) / data_.n;
    return Block{inputs_of(data_, 0, data_.n),
                 MatrixView<const double>(targets_.data(), data_.n, columns)};
  }

 private:
  void read(const PartBlock& block) {
    const Metadata& metadata = set_.metadata;
    ColumnRequest columns = parts_.columns();
    columns.content = &block.content;
    columns.rows_line = block.line;
    data_ = read_test(block.path, "", metadata, file_inputs(metadata, set_.data.d), columns);
    if (set_.K > 0 && number_known_classes(metadata.classes, metadata.text_labels, &data_) > 0)
      fail_at(
          data_.name, block.line, 0,
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
  std::string checkpoint_;
  RowParts parts_;
  int64_t first_row_ = 0;
  Dataset data_;
  std::vector<double> targets_;
};

/// Reads all rows for what is wrong in one of them, which the sample alone would not place.
void find_fault(RowParts& parts, const LearnRequest& learn) {
  TargetRequest targets = learn.targets;
  targets.as_text = learn.task == "classification";
  targets.gaps = learn.gaps;
  PartBlock block;
  for (parts.rewind(); parts.next(&block);) {
    ColumnRequest columns = parts.columns();
    columns.content = &block.content;
    columns.rows_line = block.line;
    read_training(block.path, targets, columns);
  }
  double none = 0;
  processes().sum({&none, 1});  // fails where another process has found it
}

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
  RowParts parts(learn.train, columns_of(learn));
  const std::string sample = parts.sample(kSampledLines, learn.seed);
  learn.columns.index_base = parts.columns().index_base;
  learn.columns.least_columns = parts.columns().least_columns;
  learn.columns.content = &sample;
  if (streams.out != nullptr)
    std::fprintf(streams.out, "about %ld rows, or all, say what the columns hold:\n",
                 kSampledLines);
  try {
    TrainingSet set = read_training_set(learn, streams);
    if (set.data.groups.empty()) return set;
  } catch (const Failure&) {
    find_fault(parts, learn);
    throw;
  }
  throw Failure(learn.train + ": rows with a qid, whose groups --stream would part");
}

std::vector<std::string> checkpoints_of(const FitRequest& request) {
  if (request.checkpoint.empty()) return {};
  if (!processes().shares()) return {request.checkpoint};
  std::vector<std::string> all;
  for (int64_t rank = 0; rank < processes().count(); ++rank)
    all.push_back(request.checkpoint + "." + std::to_string(rank));
  return all;
}

void remove_checkpoint(const FitRequest& request) {
  if (request.checkpoint.empty()) return;
  double none = 0;
  processes().sum({&none, 1});  // the first process has written the model
  std::remove(checkpoint_of(request).c_str());
}

namespace {
/// call(), whose failure names the option where the file of the checkpoint is at fault.
Model of_checkpoint(const std::string& file, const auto& call) {
  try {
    return call();
  } catch (const Error& error) {
    const bool of_file =
        std::string(error.what()).find(": \"" + file + "\": ") != std::string::npos;
    if (file.empty() || !of_file) throw;
    throw Failure("--checkpoint: " + message_of(error));
  }
}
}  // namespace

Model fit_stream(const Json& spec, const FitRequest& request, TrainingSet* set, Session& session) {
  FileSource source(request, *set);
  Model model = in_words_of(set->data.name, input_names(set->metadata), [&] {
    return of_checkpoint(source.checkpoint(), [&] {
      return Model::fit(json_text(spec), Data(source), session.context());
    });
  });
  const Json report = parse_json(model.report());
  for (const Json& trial : report.at("trials"))
    if (trial.at("stage") == "final") set->data.n = trial.at("rows");
  return model;
}

}  // namespace mercer::cli
