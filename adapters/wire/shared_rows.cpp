#include <draftproof/adapters/wire/shared_rows.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <draftproof/captures/safetensors.hpp>

namespace draftproof::adapters {
namespace {

using json = nlohmann::json;

constexpr std::size_t cache_line = 64;  // bytes

bool is_row_array(const Tensor& tensor) {
  return (tensor.name == "p" || tensor.name == "q") && !tensor.bytes.empty();
}

/// Copies `rows` to the beginning of `region` and makes them lie there. False without memory.
bool bring(std::vector<Tensor>& rows, SharedRegion& region) {
  const RowPlaces places = row_places(rows[0].bytes.size(), rows.size() > 1 ? rows[1].bytes.size() : 0);
  const auto room = region.room(places.size);
  if (room.empty()) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto to = room.subspan(i == 0 ? 0 : places.q, rows[i].bytes.size());
    std::memcpy(to.data(), rows[i].bytes.data(), to.size());
    rows[i].bytes = to;
  }
  return true;
}

DoorError malformed(const std::string& field, const json& found, std::string_view wanted) {
  return DoorError(fmt::format("request: shared: {}: found {}, wanted {}", field, json_text(found), wanted));
}

std::uint64_t number_in(const json& object, const char* name, const std::string& place) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) throw malformed(place, object, "a whole number");
  return found->get<std::uint64_t>();
}

std::optional<DType> dtype_in(const json& entry) {
  for (const DType each : {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I32, DType::I64})
    if (const auto found = entry.find("dtype"); found != entry.end() && *found == safetensors_type(each)) return each;
  return std::nullopt;
}

Tensor tensor_in(const std::string& name, const json& entry, std::span<const std::byte> memory) {
  const auto refuse = [&](std::string_view wanted) { return malformed("arrays: " + name, entry, wanted); };
  const auto shape = entry.is_object() ? entry.find("shape") : entry.end();
  const bool listed = entry.is_object() && shape != entry.end() && shape->is_array() &&
                      std::all_of(shape->begin(), shape->end(), [](const json& e) { return e.is_number_unsigned(); });
  if (!listed) throw refuse("dtype, shape and offset");
  const std::optional<DType> dtype = dtype_in(entry);
  if (!dtype) throw refuse("a dtype F16, BF16, F32, F64, I32 or I64");
  Tensor tensor{.name = name, .dtype = *dtype, .shape = shape->get<std::vector<std::uint64_t>>(), .bytes = {}};
  const auto size = array_bytes(*dtype, tensor.shape);
  const std::uint64_t offset = number_in(entry, "offset", "arrays: " + name + ": offset");
  if (!size || offset > memory.size() || *size > memory.size() - offset)
    throw refuse(fmt::format("an array inside {} bytes", memory.size()));
  if (offset % width(*dtype) != 0) throw refuse("an offset that is a multiple of an element");
  tensor.bytes = memory.subspan(static_cast<std::size_t>(offset), *size);
  return tensor;
}

std::atomic<std::uintptr_t> watched_first = 0, watched_end = 0;
struct sigaction before_watch {};

/// Returns to the instruction that failed, which fails again under the handling that was there before.
void on_fault(int signal, siginfo_t* fault, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(fault->si_addr);
  if (fault->si_code == SEGV_ACCERR && at >= watched_first.load() && at < watched_end.load()) {
    constexpr std::string_view words = "the program wrote to the rows p or q of a request, which are for reading\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, words.data(), words.size());
  }
  sigaction(signal, &before_watch, nullptr);
}

void install_watch() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &before_watch);
}

/// From now on a fault at an address of `memory`, which is mapped for reading, prints a line and is then handled as it
/// was before the first call: by default it ends the process. `memory` replaces the one before; empty ends the watch.
void watch_writes(std::span<const std::byte> memory) {
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
  watched_end = 0;
  watched_first = first;
  watched_end = first + memory.size();
  if (memory.empty()) return;
  static const bool installed = (install_watch(), true);
  (void)installed;
}

}  // namespace

RowPlaces row_places(std::size_t p_bytes, std::size_t q_bytes) {
  const std::size_t q = (p_bytes + cache_line - 1) / cache_line * cache_line;
  return {q, q + q_bytes};
}

bool takes_shared_rows(const json& hello) {
  const json& version = hello["version"];
  if (version[0] != 1 || version[1] < 1) return false;
  const auto found = hello.find("shared_memory");
  if (found == hello.end()) return false;
  if (!found->is_boolean())
    throw DoorError(fmt::format("hello: shared_memory: found {}, wanted true or false", json_text(*found)));
  return found->get<bool>();
}

void offer_shared_rows(json& hello) {
  hello["version"] = {1, 1};
  hello["shared_memory"] = true;
}

bool share_rows(const Message& request, SharedRegion& region, Message& shared) {
  std::vector<Tensor> rows;
  std::size_t size = 0, held = 0;
  shared = {.fields = request.fields};
  for (const Tensor& tensor : request.tensors) {
    (is_row_array(tensor) ? rows : shared.tensors).push_back(tensor);
    if (!is_row_array(tensor)) continue;
    size += tensor.bytes.size();
    held += region.holds(tensor.bytes) ? 1 : 0;
  }
  if (size < least_shared_bytes) return false;
  // A copy could overwrite what lies there already.
  if (held != rows.size() && (held != 0 || !bring(rows, region))) return false;
  json arrays = json::object();
  for (const Tensor& tensor : rows)
    arrays[tensor.name] = {
        {"dtype", safetensors_type(tensor.dtype)}, {"shape", tensor.shape}, {"offset", region.offset(tensor.bytes)}};
  shared.fields["shared"] = {
      {"path", region.path()}, {"inode", region.inode()}, {"bytes", region.bytes()}, {"arrays", std::move(arrays)}};
  return true;
}

bool MappedRows::add_to(Message& message) {
  const auto field = message.fields.find("shared");
  if (field == message.fields.end()) return false;
  const auto path = field->is_object() ? field->find("path") : field->end();
  const auto arrays = field->is_object() ? field->find("arrays") : field->end();
  if (!field->is_object() || path == field->end() || !path->is_string() || arrays == field->end() ||
      !arrays->is_object())
    throw malformed("path", *field, "path, inode, bytes and arrays");
  map(path->get<std::string>(), number_in(*field, "inode", "inode"),
      static_cast<std::size_t>(number_in(*field, "bytes", "bytes")));
  for (const auto& [name, entry] : arrays->items()) {
    if (message.find(name) != nullptr) throw malformed("arrays: " + name, entry, "an array that is not in the frame");
    message.tensors.push_back(tensor_in(name, entry, memory_));
  }
  return !arrays->empty();
}

void MappedRows::map(const std::string& path, std::uint64_t inode, std::size_t size) {
  if (path == path_ && inode == inode_ && size == memory_.size()) return;
  release();
  const auto failed = [&](const std::string& found, const std::string& wanted) {
    return Unmapped(fmt::format("request: shared: path: {}: found {}, wanted {}", path, found, wanted));
  };
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) throw failed(std::strerror(errno), "a file that this process may read");
  struct stat status {};
  const bool same = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == inode && size > 0 &&
                    static_cast<std::uint64_t>(status.st_size) == size;
  void* const start = same ? mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0) : MAP_FAILED;
  const std::string why = std::strerror(errno);
  close(file);
  if (!same)
    throw failed(fmt::format("file {} of {} bytes", status.st_ino, status.st_size),
                 fmt::format("file {} of {}", inode, size));
  if (start == MAP_FAILED) throw failed(why, fmt::format("address space for {} bytes", size));
  memory_ = {static_cast<const std::byte*>(start), size};
  path_ = path;
  inode_ = inode;
  watch_writes(memory_);
}

void MappedRows::release() {
  if (memory_.empty()) return;
  watch_writes({});
  munmap(const_cast<std::byte*>(memory_.data()), memory_.size());
  memory_ = {};
}

}  // namespace draftproof::adapters
