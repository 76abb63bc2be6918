#include <draftproof/adapters/open_adapter.hpp>

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <draftproof/adapters/built_in/built_in_adapter.hpp>
#include <draftproof/adapters/built_in/serve_registered.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/adapters/library/load_library.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::adapters {

namespace {

/// A program that emits one token per row and reads no row, which measures the cost of an adapter without a verifier.
class Floor final : public Served {
 public:
  Floor() {
    declaration_.name = "lower_bound";
    declaration_.randomness = {Randomness::seeded};
  }
  const Declaration& declaration() const override { return declaration_; }
  void verify(const ServedBatch& batch, ServedResult& result) override {
    for (int row = 0; row < batch.rows; ++row) {
      result.tokens_of(row).front() = 0;
      result.counts[static_cast<std::size_t>(row)] = 1;
    }
  }

 private:
  Declaration declaration_;
};

std::string this_program() {
  std::error_code failed;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) throw AdapterError("this program's own path is not known: " + failed.message());
  return path.string();
}

bool starts(const std::string& text, std::string_view prefix, std::string& rest) {
  if (!text.starts_with(prefix)) return false;
  rest = text.substr(prefix.size());
  return true;
}

}  // namespace

OpenAdapter open_adapter(const std::string& text, const WireOptions& options) {
  std::string rest;
  Address address("");
  if (starts(text, "exec:", rest))
    address = rest;
  else if (starts(text, "socket:", rest))
    address = {Address::Kind::socket, rest};
  else if (starts(text, "lower-bound", rest) || starts(text, "lib:", rest) || starts(text, "built-in:", rest) ||
           starts(text, "abi:", rest))
    address = fmt::format("exec {} serve {}", in_shell_quotes(this_program()), in_shell_quotes(text));
  else
    throw InputError({.file = "--adapter",
                      .got = in_quotes(text),
                      .expected = "exec:COMMAND, socket:PATH, lib:PATH, built-in:NAME or abi:NAME"});
  if (rest.empty())
    throw InputError({.file = "--adapter", .got = in_quotes(text), .expected = "a command, path or name"});
  auto program = std::make_shared<WireProgram>(address, options);
  check_draft_sampling(program->declaration());
  FreshProgram fresh;
  if (!address.listens()) fresh = [address, options] { return std::make_shared<WireProgram>(address, options); };
  return {text, program, program, fresh};
}

std::unique_ptr<Served> served_here(const std::string& text) {
  std::string rest;
  if (text == "lower-bound:") return std::make_unique<Floor>();
  if (starts(text, "lib:", rest)) return load_library(rest);
  if (starts(text, "abi:", rest))
    return linked_library(rest, built_in_adapter, {.create = nlohmann::json{{"verifier", rest}}.dump()});
  return serve_registered(starts(text, "built-in:", rest) ? rest : text);
}

}  // namespace draftproof::adapters
