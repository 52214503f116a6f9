// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// HDF5: a dataset of numbers, of one dimension or two, as the bytes of a .npy file. Nothing outside
// of the file is opened: external links, raw data and virtual datasets of other files are refused.
#include <sys/stat.h>

#include <fstream>

#include "failure.h"
#include "read/table.h"
#ifdef MERCER_HDF5_LIBRARY
#include <dlfcn.h>
#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#endif

namespace mercer::cli {
namespace {

/// Only plain files are opened: a pipe gives its bytes once.
bool is_hdf5(const std::string& path) {
  struct stat known {};
  if (stat(path.c_str(), &known) != 0 || !S_ISREG(known.st_mode)) return false;
  char start[8] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return std::string_view(start, sizeof start) == "\x89HDF\r\n\x1a\n";
}

#ifdef MERCER_HDF5_LIBRARY
using Extents = std::vector<hsize_t>;

/// libhdf5 is loaded with the first file: the 32 libraries that it brings along take as long to load
/// as all others of the command.
void* hdf5_library() {
  static void* const library = dlopen(MERCER_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return library;
}
#define H5(name) HDF5_LOADED(H5##name)  // H5(Dread) is H5Dread, or what libhdf5 defines it to be
#define HDF5_LOADED(name) HDF5_SYMBOL(name)
#define HDF5_SYMBOL(name) reinterpret_cast<decltype(&name)>(dlsym(hdf5_library(), #name))

/// libhdf5 is no library for threads: whoever calls it holds this.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

class Handle {
 public:
  explicit Handle(hid_t id = -1) : id_(id) {}
  ~Handle() {
    if (id_ >= 0) H5(Idec_ref)(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

/// The first cause of what went wrong last, as libhdf5 words it.
std::string reason() {
  std::string text;
  const auto first = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    static_cast<std::string*>(to)->assign(error->desc == nullptr ? "" : error->desc);
    return 1;
  };
  H5(Ewalk2)(H5E_DEFAULT, H5E_WALK_UPWARD, first, &text);
  return text.empty() ? "" : " (libhdf5: " + text + ")";
}

/// Names are what a file makes them, and may not steer a terminal.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

Extents extents_of(hid_t dataset) {
  const Handle space(H5(Dget_space)(dataset));
  Extents extents(static_cast<size_t>(std::max(H5(Sget_simple_extent_ndims)(space), 0)));
  H5(Sget_simple_extent_dims)(space, extents.data(), nullptr);
  return extents;
}

std::string shape_text(const Extents& extents) {
  std::string text;
  for (const hsize_t extent : extents) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + (extents.size() == 1 ? ",)" : ")");
}

std::string type_text(hid_t type) {
  constexpr std::array kClasses = {"int",      "float",     "time", "string", "bitfield", "opaque",
                                   "compound", "reference", "enum", "vlen",   "array"};
  const auto kind = static_cast<size_t>(H5(Tget_class)(type));
  if (kind >= kClasses.size()) return "unknown";
  if (kind > H5T_FLOAT) return kClasses[kind];
  return (kind == H5T_INTEGER && H5(Tget_sign)(type) == H5T_SGN_NONE ? "u" : "") +
         (kClasses[kind] + std::to_string(8 * H5(Tget_size)(type)));
}

/// Of other files nothing is opened, be it for their extents.
bool is_elsewhere(hid_t dataset) {
  const Handle made(H5(Dget_create_plist)(dataset));
  return H5(Pget_layout)(made) == H5D_VIRTUAL || H5(Pget_external_count)(made) != 0;
}

struct Datasets {
  std::string folder;  // that is being listed
  std::vector<std::string> paths = {};
  int links = 0, depth = 0;
};

/// Cycles of groups and files of millions end at these limits.
herr_t add_dataset(hid_t group, const char* name, const H5L_info_t* link, void* to) {
  constexpr int kMostLinks = 10000, kMostDepth = 16;
  Datasets& all = *static_cast<Datasets*>(to);
  if (++all.links > kMostLinks) return 1;
  if (link->type != H5L_TYPE_HARD) return 0;
  const Handle object(H5(Oopen)(group, name, H5P_DEFAULT));
  const H5I_type_t type = H5(Iget_type)(object);
  if (type == H5I_DATASET) all.paths.push_back(all.folder + name);
  if (type != H5I_GROUP || all.depth == kMostDepth) return 0;
  const std::string folder = std::exchange(all.folder, all.folder + name + "/");
  ++all.depth;
  const herr_t status = H5(Literate)(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_dataset, to);
  --all.depth;
  all.folder = folder;
  return status;
}

/// What packed or rearranged a chunk, undone; "" where that fails. At most `most` bytes come out.
std::string unfiltered(H5Z_filter_t filter, const std::string& bytes, size_t width, size_t most) {
  std::string out(filter == H5Z_FILTER_DEFLATE ? most : bytes.size(), '\0');
  uLongf size = out.size();
  if (filter == H5Z_FILTER_DEFLATE) {
    const auto* packed = reinterpret_cast<const Bytef*>(bytes.data());
    const int status =
        uncompress(reinterpret_cast<Bytef*>(out.data()), &size, packed, bytes.size());
    out.resize(status == Z_OK ? size : 0);
  } else if (filter == H5Z_FILTER_SHUFFLE) {  // the first byte of all numbers, the second, ...
    const size_t count = size / width;
    for (size_t k = 0; k < width; ++k)
      for (size_t i = 0; i < count; ++i) out[i * width + k] = bytes[k * count + i];
  } else {
    out = bytes.substr(0, std::max<size_t>(size, 4) - 4);  // fletcher32: a sum behind
  }
  return out;
}

class Hdf5Array : public ArrayFile {
 public:
  Hdf5Array(const std::string& file, const std::string& dataset)
      : ArrayFile(file), name_(file), handle_(H5(Fopen)(file.c_str(), 0, H5P_DEFAULT)) {
    if (handle_ < 0) refuse("no readable HDF5 file" + reason());
    const std::string path = dataset.empty() ? only_dataset() : dataset;
    name_ = file + ":" + path;
    const auto* kind = static_cast<const hid_t*>(
        dlsym(hdf5_library(), "H5P_CLS_DATASET_ACCESS_ID_g"));  // H5P_DATASET_ACCESS
    const Handle access(H5(Pcreate)(*kind));
    // Of chunks that are not packed the rows alone are read.
    H5(Pset_chunk_cache)(access, 1, 0, 0);
    dataset_ = Handle(H5(Dopen2)(handle_, path.c_str(), access));
    if (dataset_ < 0) {
      const std::string why = reason();
      refuse("no dataset in this file" + why + "; " + list());
    }
    if (is_elsewhere(dataset_)) refuse("its numbers are in other files, which are not read");
    find_type();
    find_extents();
    find_storage();
  }
  ~Hdf5Array() override {
    const std::lock_guard lock(one_at_a_time());
    for (Handle* held : {&type_, &stored_, &dataset_, &handle_}) *held = Handle();
  }

  size_t size() const override { return header_.size() + rows_ * columns_ * bytes_; }

  size_t read(char* to, size_t at, size_t most) override {
    if (at < header_.size()) return header_.copy(to, most, at);
    const std::lock_guard lock(one_at_a_time());
    const size_t place = (at - header_.size()) / bytes_;
    if (chunk_.empty()) return read_span(to, place, most / bytes_);
    const hsize_t first = place / columns_ / chunk_[0] * chunk_[0];
    if (first != first_) load_chunks(first);
    return numbers_.copy(to, most, (place - first * columns_) * bytes_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    fail_at(printable(name_), 0, 0, printable(what));
  }
  [[noreturn]] void refuse_row(hsize_t row) const {
    const std::string why = reason();
    refuse("row " + std::to_string(row + 1) + " is damaged, or was never written" + why);
  }

  Datasets datasets() const {
    Datasets all{"/"};
    H5(Literate)(handle_, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_dataset, &all);
    return all;
  }

  /// "it holds /x (100, 3) float64, /y (100,) int32".
  std::string list() const {
    constexpr size_t kMost = 12;
    std::vector<std::string> texts = datasets().paths;
    for (size_t k = 0; k < std::min(texts.size(), kMost); ++k) {
      const Handle dataset(H5(Dopen2)(handle_, texts[k].c_str(), H5P_DEFAULT));
      if (dataset < 0 || is_elsewhere(dataset)) continue;
      texts[k] +=
          " " + shape_text(extents_of(dataset)) + " " + type_text(Handle(H5(Dget_type)(dataset)));
    }
    return "it holds " + (texts.empty() ? "no dataset" : listed(texts, kMost));
  }

  std::string only_dataset() const {
    const std::vector<std::string> all = datasets().paths;
    if (all.size() == 1) return all[0];
    refuse(list() + ", expected one dataset, or a name: " + name_ + ":/NAME");
  }

  void find_type() {
    stored_ = Handle(H5(Dget_type)(dataset_));
    const Handle number(H5(Tget_class)(stored_) == H5T_ENUM ? H5(Tget_super)(stored_)
                                                            : H5(Tcopy)(stored_));
    const H5T_class_t kind = H5(Tget_class)(number);
    if (kind == H5T_INTEGER || kind == H5T_FLOAT)
      type_ = Handle(H5(Tget_native_type)(number, H5T_DIR_ASCEND));
    bytes_ = type_ < 0 ? 0 : H5(Tget_size)(type_);
    if (bytes_ == 0 || bytes_ > sizeof(double))
      refuse("elements of type " + type_text(stored_) + ", expected numbers of at most 8 bytes");
  }

  void find_extents() {
    const Extents extents = extents_of(dataset_);
    const std::string shape = shape_text(extents);
    if (extents.empty() || extents.size() > 2)
      refuse("shape " + shape + ", expected (rows, columns), or (rows,) for a single column");
    rows_ = extents[0];
    columns_ = extents.size() > 1 ? extents[1] : 1;
    hsize_t all = H5(Tget_size)(stored_) + bytes_;
    if (__builtin_mul_overflow(all, columns_, &all) || __builtin_mul_overflow(all, rows_, &all) ||
        all > (hsize_t{1} << 56))
      refuse("impossible size " + shape);
    if (all == 0) refuse("empty array " + shape);
    NpyLayout layout;
    layout.type = (H5(Tget_class)(type_) == H5T_FLOAT     ? "<f"
                   : H5(Tget_sign)(type_) == H5T_SGN_NONE ? "<u"
                                                          : "<i") +
                  std::to_string(bytes_);
    layout.columns = static_cast<int64_t>(columns_);
    layout.vector = extents.size() == 1;
    header_ = npy_header(layout, static_cast<int64_t>(rows_));
  }

  void find_storage() {
    const Handle made(H5(Dget_create_plist)(dataset_));
    const size_t width = H5(Tget_size)(stored_);
    Extents chunk = {rows_, columns_};
    if (H5(Pget_layout)(made) == H5D_CHUNKED && H5(Pget_chunk)(made, 2, chunk.data()) == 1)
      chunk[1] = 1;
    find_filters(made);
    const auto down = static_cast<double>((rows_ - 1) / chunk[0] + 1);
    const double held = static_cast<double>((columns_ - 1) / chunk[1] + 1) *
                        static_cast<double>(chunk[0]) * static_cast<double>(chunk[1]);
    if (filters_.empty()) {  // what was never written would be read as zeros
      const auto size = static_cast<double>(H5(Dget_storage_size)(dataset_));
      if (size < down * held * static_cast<double>(width)) refuse("rows that were never written");
      return;
    }
    constexpr double kMost = 1 << 27;
    if (held * static_cast<double>(std::max(width, bytes_)) > kMost)
      refuse("packed in chunks of " + shape_text(chunk) +
             ", of which a row crosses more than 128 MiB; h5repack -l CHUNK=ROWSxCOLUMNS makes a "
             "file of smaller ones");
    chunk_ = chunk;
  }

  void find_filters(hid_t made) {
    for (int k = 0; k < H5(Pget_nfilters)(made); ++k) {
      char name[64] = {};
      size_t values = 0;
      unsigned flags = 0;
      filters_.push_back(H5(Pget_filter2)(made, static_cast<unsigned>(k), &flags, &values, nullptr,
                                          sizeof name, name, nullptr));
      if (filters_[k] < H5Z_FILTER_DEFLATE || filters_[k] > H5Z_FILTER_FLETCHER32)
        refuse("packed by " + shown(name) +
               ", expected gzip, shuffle or fletcher32; h5repack -f GZIP=4 makes such a file");
    }
  }

  /// Of an array that is not packed: whole rows, or a part of one.
  size_t read_span(char* to, size_t place, size_t room) {
    const hsize_t start[] = {place / columns_, place % columns_};
    const bool whole = start[1] == 0 && room >= columns_;
    const hsize_t count[] = {whole ? room / columns_ : 1,
                             whole ? columns_ : std::min<hsize_t>(columns_ - start[1], room)};
    const hsize_t all = count[0] * count[1];
    const Handle from(H5(Dget_space)(dataset_)), into(H5(Screate_simple)(1, &all, nullptr));
    H5(Sselect_hyperslab)(from, H5S_SELECT_SET, start, nullptr, count, nullptr);
    if (H5(Dread)(dataset_, type_, into, from, H5P_DEFAULT, to) < 0) refuse_row(start[0]);
    return all * bytes_;
  }

  /// Unpacked here: libhdf5 1.10 trusts that as many numbers come out of a filter as it needs.
  std::string chunk_at(const Extents& place) {
    const size_t width = H5(Tget_size)(stored_), count = chunk_[0] * chunk_[1];
    hsize_t size = 0;
    uint32_t unused = 0;
    if (H5(Dget_chunk_storage_size)(dataset_, place.data(), &size) < 0 || size == 0 ||
        size > 2 * count * width + 64)
      refuse_row(place[0]);
    std::string bytes(size, '\0');
    if (H5(Dread_chunk)(dataset_, H5P_DEFAULT, place.data(), &unused, bytes.data()) < 0)
      refuse_row(place[0]);
    for (size_t k = filters_.size(); k-- > 0;)
      if ((unused >> k & 1) == 0) bytes = unfiltered(filters_[k], bytes, width, count * width + 4);
    if (bytes.size() != count * width) refuse_row(place[0]);
    bytes.resize(count * std::max(width, bytes_));
    if (H5(Tconvert)(stored_, type_, count, bytes.data(), nullptr, H5P_DEFAULT) < 0)
      refuse_row(place[0]);
    return bytes;
  }

  /// All that a row crosses.
  void load_chunks(hsize_t first) {
    first_ = kNone;
    const hsize_t rows = std::min(chunk_[0], rows_ - first);
    numbers_.resize(rows * columns_ * bytes_);
    for (hsize_t left = 0; left < columns_; left += chunk_[1]) {
      const std::string chunk = chunk_at({first, left});
      const size_t row = std::min(chunk_[1], columns_ - left) * bytes_;
      for (hsize_t i = 0; i < rows; ++i)
        chunk.copy(numbers_.data() + (i * columns_ + left) * bytes_, row, i * chunk_[1] * bytes_);
    }
    first_ = first;
  }

  static constexpr hsize_t kNone = ~hsize_t{0};
  std::string name_, header_;
  Handle handle_, dataset_, stored_, type_;  // stored_: of numbers in the file, type_: as read
  size_t bytes_ = 0;                         // of type_
  hsize_t rows_ = 0, columns_ = 0;
  Extents chunk_ = {};  // rows, columns; empty: they are not packed
  std::vector<H5Z_filter_t> filters_;
  hsize_t first_ = kNone;  // the row that numbers_ begin with
  std::string numbers_;    // of chunks side by side
};
#endif

}  // namespace

std::unique_ptr<ArrayFile> open_hdf5(const std::string& path) {
  const size_t colon = path.find(":/");
  const bool whole = is_hdf5(path);
  if (!whole && (colon == path.npos || !is_hdf5(path.substr(0, colon)))) return nullptr;
  const std::string file = whole ? path : path.substr(0, colon);
#ifdef MERCER_HDF5_LIBRARY
  const std::lock_guard lock(one_at_a_time());
  if (hdf5_library() == nullptr)
    fail_at(file, 0, 0,
            "HDF5 files take " MERCER_HDF5_LIBRARY " of libhdf5: " + std::string(dlerror()));
  H5(Eset_auto2)(H5E_DEFAULT, nullptr, nullptr);
  static const herr_t inside = H5(Lunregister)(H5L_TYPE_EXTERNAL);
  static_cast<void>(inside);
  return std::make_unique<Hdf5Array>(file, whole ? "" : path.substr(colon + 1));
#else
  fail_at(file, 0, 0,
          "an HDF5 file, which this command was built without: build it with libhdf5-dev of Debian "
          "installed, or save the array as .npy");
#endif
}

}  // namespace mercer::cli
