#include <draftproof/adapters/wire/message_reader.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <draftproof/adapters/wire/json_lines.hpp>
#include <draftproof/captures/input_error.hpp>

namespace draftproof::adapters {
namespace {

constexpr std::size_t line_chunk = std::size_t{1} << 16;

std::string_view characters(const std::byte* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

void MessageReader::expect(ReplyLimit most, std::string place) {
  if (form_ == Form::lines && size_ > end_)
    throw DoorError(fmt::format("{}: found {} after the message before, wanted nothing until the next request", place,
                                in_quotes(characters(buffer_.get() + end_, size_ - end_))));
  most_ = most;
  place_ = std::move(place);
  head_size_ = size_ = end_ = 0;
  complete_ = false;
}

void MessageReader::reserve(std::size_t size) {
  if (size <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<std::byte[]>(size);
  if (size_ > 0) std::memcpy(larger.get(), buffer_.get(), size_);
  buffer_ = std::move(larger);
  capacity_ = size;
}

std::span<std::byte> MessageReader::room() {
  if (form_ == Form::lines) {
    if (capacity_ - size_ < line_chunk) reserve(2 * capacity_ + line_chunk);
    return {buffer_.get() + size_, line_chunk};
  }
  if (head_size_ < head_.size()) return std::span(head_).subspan(head_size_);
  return {buffer_.get() + size_, end_ - size_};
}

void MessageReader::start_frame() {
  std::uint64_t length = 0;
  std::memcpy(&length, head_.data(), sizeof length);
  if (length > most_.frame_bytes)
    throw DoorError(
        fmt::format("{}: found a frame of {} bytes, wanted at most {}", place_, length, most_.frame_bytes));
  if (length == 0) throw DoorError(place_ + ": found a frame of 0 bytes, wanted a safetensors blob");
  end_ = static_cast<std::size_t>(length);
  reserve(end_);
}

void MessageReader::scan_line(std::size_t from) {
  const void* feed = std::memchr(buffer_.get() + from, '\n', size_ - from);
  if (feed) {
    end_ = static_cast<std::size_t>(static_cast<const std::byte*>(feed) - buffer_.get()) + 1;
    complete_ = true;
  }
  if ((feed ? end_ : size_) > most_.line_bytes)
    throw DoorError(
        fmt::format("{}: found a line of more than {} bytes, {}.., wanted a reply as large as the request", place_,
                    most_.line_bytes, in_quotes(characters(buffer_.get(), size_))));
}

void MessageReader::filled(std::size_t count) {
  if (form_ == Form::lines) {
    size_ += count;
    return scan_line(size_ - count);
  }
  if (head_size_ < head_.size()) {
    head_size_ += count;
    if (head_size_ < head_.size()) return;
    if (!form_)
      form_ = std::find(head_.begin(), head_.end(), std::byte{0}) == head_.end() ? Form::lines : Form::frames;
    if (form_ == Form::frames) return start_frame();
    reserve(line_chunk);
    std::memcpy(buffer_.get(), head_.data(), head_.size());
    size_ = head_.size();
    return scan_line(0);
  }
  size_ += count;
  complete_ = size_ == end_;
}

Message MessageReader::take() {
  if (form_ == Form::lines) return decode_line(characters(buffer_.get(), end_ - 1), place_);
  return decode_blob({buffer_.get(), end_}, place_);
}

std::string MessageReader::beginning() const {
  const bool in_head = form_ != Form::lines && size_ == 0;
  const auto text = in_head ? characters(head_.data(), head_size_) : characters(buffer_.get(), size_);
  return text.empty() ? "nothing" : fmt::format("{} bytes, {}", text.size(), in_quotes(text));
}

}  // namespace draftproof::adapters
