// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Reading bytes, plain or gzip (RFC 1952, several members allowed). zlib's inflate is driven
// directly rather than through gzread, whose errors do not tell a truncated file from a damaged
// one.
#include "read/byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "failure.h"
#include "interrupt.h"

namespace mercer::cli {

namespace {
constexpr size_t kRawBytes = size_t{1} << 18;
constexpr unsigned char kGzip[2] = {0x1f, 0x8b};
}  // namespace

struct ByteSource::Inflater {
  z_stream stream{};
  bool member_ended = false;
  Inflater() {
    if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
};

ByteSource::ByteSource(const std::string& path, Decode decode)
    : name_(path == "-" ? "standard input" : path), raw_(kRawBytes) {
  descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail_at(name_, 0, 0, std::strerror(errno));
  try {
    while (raw_end_ < 2 && fill_raw()) {
    }
    const bool decoded = decode == Decode::gzip;
    if (decoded && raw_end_ >= 2 && std::memcmp(raw_.data(), kGzip, 2) == 0) {
      inflater_ = std::make_unique<Inflater>();
    }
  } catch (...) {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
    throw;
  }
}

ByteSource::~ByteSource() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

bool ByteSource::fill_raw() {
  if (raw_begin_ == raw_end_) raw_begin_ = raw_end_ = 0;
  for (;;) {
    stop_if_interrupted();
    const ssize_t got = ::read(descriptor_, raw_.data() + raw_end_, raw_.size() - raw_end_);
    if (got >= 0) {
      raw_end_ += static_cast<size_t>(got);
      return got > 0;
    }
    if (errno != EINTR) fail_at(name_, 0, 0, std::strerror(errno));
  }
}

size_t ByteSource::read_raw(char* out, size_t count) {
  if (raw_begin_ == raw_end_ && !fill_raw()) return 0;
  const size_t taken = std::min(count, raw_end_ - raw_begin_);
  std::memcpy(out, raw_.data() + raw_begin_, taken);
  raw_begin_ += taken;
  return taken;
}

// After a member's trailer: another member, or zero padding (as tapes and some tools leave), or the
// end.
void ByteSource::next_member() {
  while (raw_begin_ < raw_end_ || fill_raw()) {
    if (raw_[raw_begin_] == 0) {
      ++raw_begin_;
      continue;
    }
    if (static_cast<unsigned char>(raw_[raw_begin_]) != kGzip[0]) {
      fail_at(name_, 0, 0, "malformed gzip: other data after the end of the stream");
    }
    inflateReset(&inflater_->stream);
    inflater_->member_ended = false;
    return;
  }
}

size_t ByteSource::read_decoded(char* out, size_t count) {
  z_stream& stream = inflater_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(out);
  const size_t wanted = std::min(count, size_t{1} << 30);
  stream.avail_out = static_cast<uInt>(wanted);
  while (stream.avail_out == wanted) {
    if (inflater_->member_ended) next_member();
    if (inflater_->member_ended) return 0;
    if (raw_begin_ == raw_end_ && !fill_raw()) {
      fail_at(name_, 0, 0, "truncated gzip: the file ends inside the compressed stream");
    }
    stream.next_in = reinterpret_cast<Bytef*>(raw_.data() + raw_begin_);
    stream.avail_in = static_cast<uInt>(raw_end_ - raw_begin_);
    const int status = inflate(&stream, Z_NO_FLUSH);
    raw_begin_ = raw_end_ - stream.avail_in;
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) {
      inflater_->member_ended = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      const char* why = stream.msg != nullptr ? stream.msg : "bad data";
      fail_at(name_, 0, 0, std::string("malformed gzip: ") + why);
    }
  }
  return wanted - stream.avail_out;
}

size_t ByteSource::read(char* out, size_t count) {
  size_t done = std::min(count, ahead_.size() - ahead_begin_);
  std::memcpy(out, ahead_.data() + ahead_begin_, done);
  ahead_begin_ += done;
  while (done < count) {
    const size_t got =
        inflater_ ? read_decoded(out + done, count - done) : read_raw(out + done, count - done);
    if (got == 0) break;
    done += got;
  }
  consumed_ += done;
  return done;
}

void ByteSource::read_exactly(char* out, size_t count, std::string_view what) {
  if (read(out, count) < count) {
    fail_at(name_, 0, 0,
            "truncated: the data ends after " + std::to_string(consumed_) + " bytes, inside " +
                std::string(what));
  }
}

std::string_view ByteSource::peek(size_t count) {
  while (ahead_.size() - ahead_begin_ < count) {
    std::string more(count - (ahead_.size() - ahead_begin_), '\0');
    const size_t got =
        inflater_ ? read_decoded(more.data(), more.size()) : read_raw(more.data(), more.size());
    if (got == 0) break;
    ahead_.append(more, 0, got);
  }
  return std::string_view(ahead_).substr(ahead_begin_, count);
}

bool ByteSource::at_end() { return peek(1).empty(); }

}  // namespace mercer::cli
