// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Whole files: a table stays in memory anyway. zlib's inflate is driven directly rather than
// through gzread, whose errors do not tell a truncated file from a damaged one.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "failure.h"
#include "read/table.h"

namespace mercer::cli {
namespace {

constexpr size_t kBlock = size_t{1} << 20;
constexpr std::string_view kGzip = "\x1f\x8b";

struct Descriptor {
  explicit Descriptor(const std::string& path)
      : number(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number > STDIN_FILENO) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
};

/// One member from `at` on, which moves behind it.
void unpack_member(const std::string& name, const std::string& packed, size_t* at,
                   std::string* out) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    stop_if_interrupted();
    const size_t before = out->size();
    out->resize(before + kBlock);
    require_memory(name + ": unpacked", static_cast<double>(out->size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + *at));
    stream.avail_in = static_cast<uInt>(std::min(packed.size() - *at, size_t{1} << 30));
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + before);
    stream.avail_out = static_cast<uInt>(kBlock);
    status = inflate(&stream, Z_NO_FLUSH);
    *at = static_cast<size_t>(reinterpret_cast<const char*>(stream.next_in) - packed.data());
    out->resize(before + (kBlock - stream.avail_out));
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    const bool going_on = status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END;
    if (!going_on)
      fail_at(name, 0, 0,
              std::string("malformed gzip: ") + (stream.msg != nullptr ? stream.msg : "bad data"));
    if (status != Z_STREAM_END && *at == packed.size() && stream.avail_out > 0)
      fail_at(name, 0, 0, "truncated gzip: the file ends inside the compressed stream");
  }
}

struct Magic {
  std::string_view start;
  const char* what;
};
constexpr const char* kWide = "text in UTF-16: save it as UTF-8";
constexpr Magic kMagic[] = {
    {{"PK\x03\x04", 4}, "a zip archive, as workbooks .xlsx are: export it as CSV"},
    {{"\xd0\xcf\x11\xe0", 4}, "a workbook of an old office program: export it as CSV"},
    {"\x89MERCER", "a model, or what else mercer writes for programs, and no rows"},
    {"%%MatrixMarket", "a MatrixMarket file: save it as libsvm or .npy"},
    {"PAR1", "a Parquet file: export it as CSV"},
    {"ARROW1", "an Arrow file: export it as CSV"},
    {"\x89HDF", "an HDF5 file in a pipe or packed: it is read from a plain file"},
    {"SQLite format 3", "an SQLite database: export a table as CSV"},
    {"BZh", "packed by bzip2: unpack it, or pack it by gzip"},
    {"\xfd\x37zXZ", "packed by xz: unpack it, or pack it by gzip"},
    {"\x28\xb5\x2f\xfd", "packed by zstd: unpack it, or pack it by gzip"},
    {{"\xff\xfe", 2}, kWide},
    {{"\xfe\xff", 2}, kWide},
    {{"\0\0\x08", 3}, "an IDX file: save it as .npy"},
    {"%PDF", "a PDF document"},
    {"\x7f\x45LF", "a program"},
};

bool begins_as(std::string_view text, std::string_view word) {
  return std::ranges::equal(text.substr(0, word.size()), word, {},
                            [](unsigned char c) { return std::tolower(c); });
}

/// "@relation" on the first line that is neither blank nor a comment.
bool begins_as_arff(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t feed = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, feed);
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin != line.npos && line[begin] != '%') return begins_as(line.substr(begin), "@relation");
    bytes.remove_prefix(std::min(feed + 1, bytes.size()));
  }
  return false;
}

/// What follows a byte order mark and blanks is a tag.
bool begins_as_page(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  return begins_as(bytes, "<!doctype html") || begins_as(bytes, "<html") ||
         begins_as(bytes, "<?xml");
}

/// Every other byte of letters and digits is 0.
bool is_wide_text(std::string_view start) {
  const auto zeros = [&](size_t first) {
    for (size_t k = 0; k < 8; ++k)
      if ((start[k] == 0) != (k % 2 == first)) return false;
    return true;
  };
  return start.size() >= 8 && (zeros(0) || zeros(1));
}

}  // namespace

std::string name_of_file(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string read_bytes(const std::string& path) {
  const std::string name = name_of_file(path);
  const Descriptor file(path);
  if (file.number < 0) fail_at(name, 0, 0, std::strerror(errno));
  std::string bytes;
  for (size_t done = 0;;) {
    stop_if_interrupted();
    if (done == bytes.size()) bytes.resize(std::max(kBlock, 2 * done));
    require_memory(name + ": as a whole", static_cast<double>(done));
    const ssize_t got = ::read(file.number, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_at(name, 0, 0, std::strerror(errno));
    if (got == 0) bytes.resize(done);
    if (got == 0) return bytes;
    done += static_cast<size_t>(got);
  }
}

std::string read_unpacked(const std::string& path) {
  std::string packed = read_bytes(path), bytes;
  if (!packed.starts_with(kGzip)) return packed;
  const std::string name = name_of_file(path);
  for (size_t at = 0; at < packed.size();) {
    unpack_member(name, packed, &at, &bytes);
    // Zeros may follow, as tapes and some tools leave them.
    at = std::min(packed.find_first_not_of('\0', at), packed.size());
    if (at < packed.size() && packed[at] != kGzip[0])
      fail_at(name, 0, 0, "malformed gzip: other data after the end of the stream");
  }
  return bytes;
}

void require_known_format(const std::string& name, std::string_view bytes) {
  if (bytes.empty()) fail_at(name, 0, 0, "empty file");
  if (bytes.starts_with("PK\x03\x04") && bytes.substr(0, 256).find(".npy") != bytes.npos)
    fail_at(name, 0, 0, "an .npz archive: save one array of it as .npy");
  if (begins_as_arff(bytes)) fail_at(name, 0, 0, "an ARFF file: export it as CSV");
  if (begins_as_page(bytes))
    fail_at(name, 0, 0, "a web page or XML: save the file that it links to, or its table as CSV");
  for (const Magic& one : kMagic)
    if (bytes.starts_with(one.start)) fail_at(name, 0, 0, one.what);
  if (is_wide_text(bytes)) fail_at(name, 0, 0, kWide);
}

void require_text(const std::string& name, std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 4096);
  const auto controls = std::ranges::count_if(start, [](unsigned char c) {
    return c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v';
  });
  if (bytes.find('\0') != bytes.npos || 20 * controls > std::ssize(start))
    fail_at(name, 0, 0, "is not text, nor a .npy file");
}

}  // namespace mercer::cli
