#include <draftproof/adapters/library/library_table.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

namespace draftproof::adapters {

namespace {

std::string_view name_of(const char* stream) { return stream == nullptr ? std::string_view{} : stream; }

template <class T>
std::span<T> entries(T* first, std::int32_t count) {
  return {first, first == nullptr || count < 0 ? std::size_t{0} : static_cast<std::size_t>(count)};
}

}  // namespace

LibraryInput::LibraryInput(std::span<const std::byte> original, const LibraryTable* on_device)
    : on_device_{on_device}, original_{original} {
  if (original.empty()) return;
  copy_.resize((original.size() + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  given_ = std::memcpy(copy_.data(), original.data(), original.size());
  if (on_device == nullptr) return;
  const std::int32_t status = on_device->functions().upload(on_device->self(), given_, original.size(), &uploaded_);
  if (status == DP_OK && uploaded_ != nullptr) return;
  throw AdapterError(fmt::format("library {}: upload of {} bytes: got status {}, expected 0 and an address",
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
  tapes.unknown_row_ = row;
  return nullptr;
}

namespace {

/// Returns the enumerators whose bits are set, in their order; only `fallback` if no bit is set.
template <class E>
std::vector<E> enumerators(std::uint32_t bits, int count, E fallback) {
  std::vector<E> found;
  for (int i = 0; i < count; ++i)
    if ((bits >> i & 1u) != 0) found.push_back(static_cast<E>(i));
  if (found.empty()) found.push_back(fallback);
  return found;
}

std::string text_or(const char* text, const char* fallback) { return text == nullptr ? fallback : text; }

AdapterError refusal(const std::string& path, const std::string& what, const std::string& found,
                     const std::string& wanted) {
  return AdapterError(fmt::format("library {}: {}: got {}, expected {}", path, what, found, wanted));
}

LibraryTable::Adapter loaded(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw refusal(path, "file", "none", "a shared library");
  // The path is made absolute, because dlopen searches the system's folders for a name without a slash.
  const std::string file = std::filesystem::absolute(path).string();
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw refusal(path, "loading", dlerror(), "a shared library that this machine can load");
  void* symbol = dlsym(library, "draftproof_adapter");
  if (symbol == nullptr) symbol = dlsym(library, "draftproof_door");  // the symbol's name in version 0.2
  if (symbol == nullptr)
    throw refusal(path, "symbol", "no draftproof_adapter",
                  "the function of draftproof_adapter.h, exported with C linkage");
  return reinterpret_cast<LibraryTable::Adapter>(symbol);
}

}  // namespace

AdapterError LibraryTable::refuse(const std::string& what, const std::string& found,
                                  const std::string& wanted) const {
  return refusal(path_, what, found, wanted);
}

LibraryTable::LibraryTable(const std::string& path, const std::string& options)
    : LibraryTable(path, loaded(path), options) {}

LibraryTable::LibraryTable(const std::string& name, Adapter adapter, const std::string& options) : path_{name} {
  take(adapter(DRAFTPROOF_ADAPTER_ABI));
  if (table_.create != nullptr) {
    char words[1024] = "";
    self_ = table_.create(options.c_str(), words, sizeof words);
    words[sizeof words - 1] = '\0';
    if (self_ == nullptr)
      throw refuse("create", words[0] == '\0' ? "no instance and no message" : words, "an instance from " + options);
  }
  try {
    if (table_.describe != nullptr) {
      dp_verifier described = table_;
      if (const std::int32_t status = table_.describe(self_, &described); status != DP_OK)
        throw refuse("describe", fmt::format("status {}", status), "0");
      take(&described);
    }
    check();
    declaration_ = declared();
  } catch (...) {
    if (table_.destroy != nullptr) table_.destroy(self_);
    throw;
  }
}

LibraryTable::~LibraryTable() {
  if (table_.destroy != nullptr) table_.destroy(self_);
}

void LibraryTable::take(const dp_verifier* found) {
  if (found == nullptr)
    throw refuse("draftproof_adapter", "NULL", fmt::format("the table of ABI {}", DRAFTPROOF_ADAPTER_ABI));
  // Tables of protocol 1.0 end before state_size, tables of 1.2 before select, tables of 1.4 before grammar, tables
  // of 1.5 before settings.
  constexpr std::size_t head = offsetof(dp_verifier, name), smallest = offsetof(dp_verifier, state_size);
  const auto too_small = [&](std::size_t wanted) {
    return refuse("table", fmt::format("{} bytes", found->size),
                  fmt::format("at least {} of ABI {}", wanted, DRAFTPROOF_ADAPTER_ABI));
  };
  if (found->size < head) throw too_small(head);  // every ABI's tables have this part
  if (found->abi != DRAFTPROOF_ADAPTER_ABI)
    throw refuse("table", fmt::format("ABI {}", found->abi), fmt::format("ABI {}", DRAFTPROOF_ADAPTER_ABI));
  if (found->size < smallest) throw too_small(smallest);
  table_ = {};
  std::memcpy(static_cast<void*>(&table_), found, std::min(found->size, sizeof table_));
  if (found->size < offsetof(dp_verifier, select)) table_.state_size = 0;
  if (found->size < offsetof(dp_verifier, select_matching_alone) + sizeof table_.select_matching_alone) {
    table_.select = nullptr;
    table_.select_cut = table_.select_trees = table_.select_matching_alone = 0;
  }
  if (found->size < offsetof(dp_verifier, grammar) + sizeof table_.grammar) table_.grammar = 0;
  if (found->size < offsetof(dp_verifier, settings) + sizeof table_.settings) table_.settings = 0;
}

void LibraryTable::check() {
  const auto number = [&](const char* field, std::int64_t value, std::int64_t most) {
    if (value < 0 || value > most)
      throw refuse(field, fmt::format("{}", value), most < INT32_MAX ? fmt::format("0 .. {}", most) : "0 or more");
  };
  const auto bits = [&](const char* field, std::uint32_t value, std::uint32_t known) {
    if ((value & ~known) != 0)
      throw refuse(field, fmt::format("bits {:#x}", value), fmt::format("bits of {:#x}", known));
  };
  if (table_.name == nullptr || table_.name[0] == '\0') throw refuse("name", "none", "a name");
  if (table_.verify == nullptr && table_.draft == nullptr && table_.generate == nullptr && table_.select == nullptr)
    throw refuse("functions", "none", "verify, draft, generate or select");
  number("level", table_.level, DP_TREE);
  bits("randomness", table_.randomness, 7);
  bits("dtypes", table_.dtypes, 15);
  bits("kinds", table_.kinds, 3);
  bits("settings", table_.settings, 15);
  if (table_.grammar != 0 && table_.settings != 0) throw refuse("settings", "settings and grammar", "one of the two");
  bits("devices", table_.devices, DP_BIT(DP_CPU) | DP_BIT(DP_CUDA));
  number("most_rows", table_.most_rows, INT32_MAX);
  number("fewest_drafts", table_.fewest_drafts, INT32_MAX);
  number("most_drafts", table_.most_drafts, INT32_MAX);
  number("most_vocabulary", table_.most_vocabulary, INT32_MAX);
  number("coin_bits", table_.coin_bits, 53);
  number("state_size", table_.state_size, 1 << 16);
  number("select_cut", table_.select_cut, DP_CUT_AFTER);
  if (table_.select_trees != 0 && table_.select_cut != DP_CUT_BEFORE_VERIFICATION)
    throw refuse("select_trees", "1", "0, or a cut before verification");
  if (!(table_.tolerance >= 0 && table_.tolerance <= 1))
    throw refuse("tolerance", fmt::format("{}", table_.tolerance), "0 .. 1");
  on_device_ = (table_.devices & DP_BIT(DP_CUDA)) != 0 && (table_.devices & DP_BIT(DP_CPU)) == 0;
  if (on_device_ && (table_.upload == nullptr || table_.release == nullptr))
    throw refuse("devices", "rows on a CUDA device alone, without upload and release",
                 "both functions, or rows in host memory too");
}

Declaration LibraryTable::declared() const {
  Declaration declaration;
  declaration.name = table_.name;
  declaration.version = text_or(table_.version, "");
  declaration.draft_sampling = text_or(table_.draft_sampling, "iid");
  declaration.level = static_cast<Level>(table_.level);
  declaration.randomness = enumerators(table_.randomness, 3, Randomness::scripted);
  declaration.dtypes = enumerators(table_.dtypes, 4, Dtype::float32);
  declaration.rows = enumerators(table_.kinds, 2, RowKind::probabilities);
  declaration.functions.clear();
  if (table_.verify != nullptr) declaration.functions.emplace_back("verify");
  if (table_.draft != nullptr) declaration.functions.emplace_back("draft");
  if (table_.generate != nullptr) declaration.functions.emplace_back("generate");
  if (table_.select != nullptr) declaration.functions.emplace_back("select");
  declaration.selection = {.cut = static_cast<SelectionCut>(table_.select_cut),
                           .trees = table_.select_trees != 0,
                           .matching_alone = table_.select_matching_alone != 0};
  if (table_.most_rows > 0) declaration.most_rows = table_.most_rows;
  if (table_.fewest_drafts > 0) declaration.fewest_drafts = table_.fewest_drafts;
  declaration.most_drafts = table_.most_drafts;
  declaration.tolerance = table_.tolerance;
  declaration.most_vocabulary = table_.most_vocabulary;
  declaration.ragged = table_.equal_lengths == 0;
  declaration.deterministic = table_.nondeterministic == 0;
  if (table_.coin_bits > 0) declaration.coin_bits = table_.coin_bits;
  declaration.state_size = table_.state_size;
  declaration.grammar = table_.grammar != 0;
  if (table_.settings != 0) declaration.settings = enumerators(table_.settings, setting_count, Setting::temperature);
  check_settings(declaration);
  return declaration;
}

}  // namespace draftproof::adapters
