#include <draftproof/doors/library/library_rows.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace draftproof::doors {
namespace {

std::string_view name_of(const char* stream) { return stream == nullptr ? std::string_view{} : stream; }

template <class T>
std::span<T> entries(T* first, std::int32_t count) {
  return {first, first == nullptr || count < 0 ? std::size_t{0} : static_cast<std::size_t>(count)};
}

}  // namespace

LibraryInput::LibraryInput(std::span<const std::byte> original, const LibraryTable* on_device, bool mapped)
    : on_device_{on_device}, original_{original} {
  if (original.empty()) return;
  given_ = original.data();
  if (!mapped || reinterpret_cast<std::uintptr_t>(given_) % alignof(std::max_align_t) != 0) {
    copy_.resize((original.size() + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    given_ = std::memcpy(copy_.data(), original.data(), original.size());
  }
  if (on_device == nullptr) return;
  const std::int32_t status = on_device->functions().upload(on_device->self(), given_, original.size(), &uploaded_);
  if (status == DP_OK && uploaded_ != nullptr) return;
  throw DoorError(fmt::format("library {}: upload of {} bytes: found status {}, wanted 0 and an address",
                              on_device->path(), original.size(), status));
}

LibraryInput::~LibraryInput() {
  if (uploaded_ != nullptr) on_device_->functions().release(on_device_->self(), uploaded_);
}

bool LibraryInput::unchanged() const {
  return copy_.empty() || std::memcmp(copy_.data(), original_.data(), original_.size()) == 0;
}

LibraryTapes::LibraryTapes(const ServedBatch& batch) : callbacks_{} {
  for (int row = 0; row < batch.rows; ++row) rows_.emplace_back(batch.tape_of(row));
  callbacks_.size = sizeof callbacks_;
  callbacks_.self = this;
  callbacks_.uniform = [](void* self, std::int32_t row, std::int32_t bits, const char* stream) {
    RowTape* const tape = find(self, row);
    return tape == nullptr ? 0.0 : tape->coin(bits, name_of(stream));
  };
  callbacks_.pick = [](void* self, std::int32_t row, const double* weights, std::int32_t n, const char* stream) {
    RowTape* const tape = find(self, row);
    return tape == nullptr ? std::int32_t{-1} : std::int32_t{tape->pick(entries(weights, n), name_of(stream))};
  };
  callbacks_.race = [](void* self, std::int32_t row, double* out, std::int32_t n, const char* stream) {
    const std::span<double> clocks = entries(out, n);
    if (RowTape* const tape = find(self, row))
      tape->race(clocks, name_of(stream));
    else
      std::fill(clocks.begin(), clocks.end(), 1.0);
  };
  callbacks_.integer = [](void* self, std::int32_t row, std::int32_t n, const char* stream) {
    RowTape* const tape = find(self, row);
    return tape == nullptr ? std::int32_t{0} : std::int32_t{tape->integer(n, name_of(stream))};
  };
}

RowTape* LibraryTapes::find(void* self, std::int32_t row) {
  auto& tapes = *static_cast<LibraryTapes*>(self);
  if (row >= 0 && static_cast<std::size_t>(row) < tapes.rows_.size())
    return &tapes.rows_[static_cast<std::size_t>(row)];
  tapes.stranger_ = row;
  return nullptr;
}

}  // namespace draftproof::doors
