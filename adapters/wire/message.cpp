#include <draftproof/adapters/wire/message.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/safetensors.hpp>

namespace draftproof::adapters {
namespace {

constexpr std::uint64_t length_size = sizeof(std::uint64_t);
constexpr std::size_t line_chunk = std::size_t{1} << 16;

std::string_view characters(const std::byte* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

Tensor place_tensor(const SafetensorsEntry& entry, std::span<const std::byte> data, Message& message,
                    const std::string& place) {
  if (!entry.dtype)
    throw AdapterError(fmt::format("{}: {}: got elements of type {}, expected F16, BF16, F32, F64, I32 or I64", place,
                                   entry.name, in_quotes(entry.type)));
  const auto size = static_cast<std::size_t>(entry.end - entry.begin);
  const std::byte* first = data.data() + entry.begin;
  if (size > 0 && reinterpret_cast<std::uintptr_t>(first) % width(*entry.dtype) != 0) {
    message.owned.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    std::memcpy(message.owned.back().get(), first, size);
    first = message.owned.back().get();
  }
  return {.name = entry.name, .dtype = *entry.dtype, .shape = entry.shape, .bytes = {first, size}};
}

Message decode_checked(std::span<const std::byte> blob, const std::string& place) {
  std::uint64_t length = 0;
  if (blob.size() < length_size)
    throw AdapterError(fmt::format("{}: got a frame of {} bytes, expected a safetensors blob", place, blob.size()));
  std::memcpy(&length, blob.data(), length_size);
  if (length > blob.size() - length_size)
    throw AdapterError(fmt::format("{}: got a header of {} bytes in a blob of {}", place, length, blob.size()) +
                       ", expected a header inside it");
  const auto size = static_cast<std::size_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(blob.data()) + length_size, size);
  const auto data = blob.subspan(static_cast<std::size_t>(length_size) + size);
  const SafetensorsHeader header = parse_safetensors_header(text, data.size(), place);
  Message result;
  const auto fields = header.metadata.find("message");
  if (fields == header.metadata.end())
    throw AdapterError(place + ": got a blob without metadata `message`, expected a JSON object there");
  result.fields = parse_json_object(fields->get_ref<const std::string&>(), place + ": message");
  for (const SafetensorsEntry& entry : header.entries)
    result.tensors.push_back(place_tensor(entry, data, result, place));
  return result;
}

}  // namespace

const Tensor* Message::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [name](const auto& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string array_text(const Tensor* tensor) {
  return tensor ? std::string(to_string(tensor->dtype)) + " " + shape_text(tensor->shape) : "nothing";
}

DType array_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64:
      return DType::F64;
    case Dtype::float16:
      return DType::F16;
    case Dtype::bfloat16:
      return DType::BF16;
    default:
      return DType::F32;
  }
}

EncodedMessage::EncodedMessage(const Message& message, Form form) {
  if (form == Form::lines) {
    head_ = encode_line(message);
    parts_.push_back(std::as_bytes(std::span(head_)));
    return;
  }
  std::vector<const Tensor*> order;
  for (const Tensor& tensor : message.tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const Tensor* a, const Tensor* b) { return width(a->dtype) > width(b->dtype); });
  std::vector<SafetensorsEntry> entries;
  std::uint64_t size = 0;
  for (const Tensor* tensor : order) {
    const auto wanted = array_bytes(tensor->dtype, tensor->shape);
    if (wanted != tensor->bytes.size())
      throw AdapterError(fmt::format("sending: {}: got {} bytes for shape {}, expected {}", tensor->name,
                                     tensor->bytes.size(), shape_text(tensor->shape),
                                     wanted ? fmt::format("{}", *wanted) : "a smaller shape"));
    entries.push_back({.name = tensor->name, .type = {}, .dtype = tensor->dtype, .shape = tensor->shape});
    size += tensor->bytes.size();
  }
  const std::string text = message.fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string head = safetensors_head(entries, {{"message", text}});
  const std::uint64_t length = head.size() + size;
  head_.assign(length_size, '\0');
  std::memcpy(head_.data(), &length, length_size);
  head_ += head;
  parts_.push_back(std::as_bytes(std::span(head_)));
  for (const Tensor* tensor : order)
    if (!tensor->bytes.empty()) parts_.push_back(tensor->bytes);
}

Message decode_blob(std::span<const std::byte> blob, const std::string& place) {
  try {
    return decode_checked(blob, place);
  } catch (const InputError& error) {
    throw AdapterError(error.what());
  }
}

void MessageReader::expect(ReplyLimit most, std::string place) {
  if (form_ == Form::lines && size_ > end_)
    throw AdapterError(fmt::format("{}: got {} after the message before, expected nothing until the next request",
                                   place, in_quotes(characters(buffer_.get() + end_, size_ - end_))));
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
    throw AdapterError(
        fmt::format("{}: got a frame of {} bytes, expected at most {}", place_, length, most_.frame_bytes));
  if (length == 0) throw AdapterError(place_ + ": got a frame of 0 bytes, expected a safetensors blob");
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
    throw AdapterError(fmt::format("{}: got a line of more than {} bytes, {}.., expected a shorter one", place_,
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
